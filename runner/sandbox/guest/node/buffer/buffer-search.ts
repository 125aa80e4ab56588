import { Buffer, define, encodingOf, methods } from "./buffer-base.ts";
import { invalidArgument } from "../errors.ts";

/** Start index of a search, or -1 if nothing can match. Negative offsets count from the end. */
function startOf(length: number, offset: number, needle: number, isForward: boolean): number {
  if (offset < 0) {
    if (offset + length >= 0) return length + offset;
    return isForward || needle === 0 ? 0 : -1;
  }
  if (offset + needle <= length) return offset;
  if (needle === 0) return length;
  return isForward ? -1 : length - 1;
}

function search(hay: Uint8Array, needle: Uint8Array, offset: number, isForward: boolean, unit: 1 | 2): number {
  const start = startOf(hay.length, offset, needle.length, isForward);
  if (needle.length === 0) return start;
  if (start < 0 || needle.length > hay.length || (isForward && start + needle.length > hay.length)) return -1;
  if (unit === 2 && (hay.length < 2 || needle.length < 2)) return -1;
  const last = hay.length - needle.length;
  const step = isForward ? unit : -unit;
  // UTF-16 matches must start at an even offset.
  for (let at = Math.min(last, start) - (Math.min(last, start) % unit); at >= 0 && at <= last; at += step) {
    if (matches(hay, needle, at)) return at;
  }
  return -1;
}

function matches(hay: Uint8Array, needle: Uint8Array, at: number): boolean {
  for (let index = 0; index < needle.length; index++) if (hay[at + index] !== needle[index]) return false;
  return true;
}

function find(hay: Uint8Array, value: unknown, given: unknown, givenEncoding: unknown, isForward: boolean): number {
  const isEncoding = typeof given === "string";
  const encoding = isEncoding ? given : givenEncoding;
  const number = isEncoding ? Number.NaN : Math.max(Math.min(Number(given), 0x7fffffff), -0x80000000);
  const offset = Number.isNaN(number) ? (isForward ? 0 : hay.length) : Math.trunc(number) + 0;
  if (typeof value === "number") return hay.length === 0 ? -1 : search(hay, Uint8Array.of(value), offset, isForward, 1);
  if (typeof value === "string") {
    const known = encodingOf(encoding);
    return search(hay, Buffer.from(value, known), offset, isForward, known === "ucs2" ? 2 : 1);
  }
  if (value instanceof Uint8Array) return search(hay, value, offset, isForward, isTwoBytes(encoding) ? 2 : 1);
  throw invalidArgument("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
}

const isTwoBytes = (encoding: unknown): boolean => typeof encoding === "string" && /^(ucs-?2|utf-?16le)$/i.test(encoding);

export function patchSearch(): void {
  define(methods, "indexOf", function (this: Buffer, value: unknown, offset?: unknown, encoding?: unknown) {
    return find(this, value, offset, encoding, true);
  });
  define(methods, "lastIndexOf", function (this: Buffer, value: unknown, offset?: unknown, encoding?: unknown) {
    return find(this, value, offset, encoding, false);
  });
  define(methods, "includes", function (this: Buffer, value: unknown, offset?: unknown, encoding?: unknown) {
    return find(this, value, offset, encoding, true) !== -1;
  });
}

import type { Bytes } from "./bytes.ts";

const { fromCharCode } = String;
const { apply } = Reflect;
const replacement = 0xfffd;
/** Code units per call of `fromCharCode`, as many arguments as the stack allows. */
const batch = 4096;

/** UTF-8 of a string; a lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Bytes {
  const length = text.length;
  const ascii = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return encodeRest(text, ascii, index);
    ascii[index] = unit;
  }
  return ascii;
}

function encodeRest(text: string, ascii: Bytes, from: number): Bytes {
  const target = new Uint8Array(from + (text.length - from) * 3);
  target.set(ascii.subarray(0, from));
  const { written } = encodeInto(text, target, from, from);
  return target.slice(0, written);
}

/** Writes as many whole characters as fit. Positions are absolute. */
export function encodeInto(text: string, target: Uint8Array, from = 0, at = 0): { read: number; written: number } {
  let read = from;
  let written = at;
  while (read < text.length) {
    const point = codePoint(text, read);
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (written + size > target.length) break;
    if (size === 1) target[written] = point;
    else putMultibyte(target, written, point, size);
    written += size;
    read += size === 4 ? 2 : 1;
  }
  return { read, written };
}

function codePoint(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff) return replacement;
  const low = index + 1 < text.length ? text.charCodeAt(index + 1) : 0;
  return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : replacement;
}

function putMultibyte(target: Uint8Array, at: number, point: number, size: number): void {
  let rest = point;
  for (let index = at + size - 1; index > at; index--) {
    target[index] = 0x80 | (rest & 0x3f);
    rest >>= 6;
  }
  target[at] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | rest;
}

/** Decodes UTF-8 (WHATWG Encoding, "UTF-8 decoder"); throws a TypeError for a wrong byte when `fatal`. */
export function decodeUtf8(bytes: Uint8Array, fatal = false): string {
  const length = bytes.length;
  const units = new Uint16Array(Math.min(length, batch) + 2);
  let text = "";
  let index = 0;
  while (index < length) {
    let count = 0;
    while (index < length && count < batch) {
      const lead = bytes[index] as number;
      if (lead < 0x80) {
        units[count++] = lead;
        index += 1;
        continue;
      }
      const step = sequence(bytes, index, lead);
      index += step.size;
      if (step.point === undefined && fatal) throw invalid();
      const point = step.point ?? replacement;
      if (point > 0xffff) units[count++] = 0xd7c0 + (point >> 10);
      units[count++] = point > 0xffff ? 0xdc00 | (point & 0x3ff) : point;
    }
    text += apply(fromCharCode, undefined, units.subarray(0, count) as unknown as number[]);
  }
  return text;
}

const step: { size: number; point: number | undefined } = { size: 0, point: undefined };

/** Decodes one multi-byte sequence, or the invalid bytes that become one U+FFFD. Returns the same object each time. */
function sequence(bytes: Uint8Array, at: number, lead: number): typeof step {
  const need = lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : 0;
  // The second byte reveals overlong forms, surrogates and code points above U+10FFFF.
  let min = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let max = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  step.point = undefined;
  step.size = 1;
  if (need === 0) return step;
  let point = lead & (need === 1 ? 0x1f : need === 2 ? 0x0f : 0x07);
  for (let index = 1; index <= need; index++) {
    const byte = bytes[at + index] ?? 0;
    if (byte < min || byte > max) return step;
    point = (point << 6) | (byte & 0x3f);
    step.size = index + 1;
    min = 0x80;
    max = 0xbf;
  }
  step.point = point;
  return step;
}

/** Number of bytes at the end that start an incomplete sequence: 0 to 3. */
export function unfinishedUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (byte >= 0xf5 || byte < 0xc2 || need <= back) return 0;
      const isBroken = back > 1 && sequence(bytes, bytes.length - back, byte).size < back;
      return isBroken ? 0 : back;
    }
  }
  return 0;
}

export function invalid(): TypeError {
  return Object.assign(new TypeError("The encoded data was not valid for encoding utf-8"), {
    code: "ERR_ENCODING_INVALID_ENCODED_DATA",
  });
}

import { decodeUtf8, encodeInto, encodeUtf8 } from "../../web/encoding/utf8.ts";
import { asBufferView, Buffer, define, encodingOf, findEncoding, methods, statics, validateOffset, type Encoding } from "./buffer-base.ts";
import { invalidArgument } from "../errors.ts";

const chunk = 8_192;

/** Characters whose codes are the numbers given. */
function fromCodes(codes: Uint8Array | Uint16Array): string {
  if (codes.length <= chunk) return String.fromCharCode(...codes);
  let text = "";
  for (let at = 0; at < codes.length; at += chunk) text += String.fromCharCode(...codes.subarray(at, at + chunk));
  return text;
}

function fromUnits(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length >> 1);
  for (let index = 0; index < units.length; index++) units[index] = (bytes[index * 2] ?? 0) | ((bytes[index * 2 + 1] ?? 0) << 8);
  return fromCodes(units);
}

const packageToString = methods["toString"] as (this: Uint8Array, encoding: string) => string;

/** Bytes as text. */
export const slices: Readonly<Record<Encoding, (bytes: Uint8Array) => string>> = {
  utf8: (bytes) => decodeUtf8(bytes),
  ucs2: fromUnits,
  latin1: fromCodes,
  ascii: (bytes) => fromCodes(bytes.map((byte) => byte & 127)),
  hex: (bytes) => Reflect.apply(packageToString, asBufferView(bytes), ["hex"]),
  base64: (bytes) => Reflect.apply(packageToString, asBufferView(bytes), ["base64"]),
  base64url: (bytes) => slices.base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
};

function toString(this: Buffer, encoding?: unknown, start?: unknown, end?: unknown): string {
  const length = this.length;
  const from = Number(start) > 0 ? Math.trunc(Number(start)) || 0 : 0;
  if (from >= length) return "";
  const to = end === undefined || Number(end) >= length ? length : Math.trunc(Number(end)) || 0;
  if (to <= from) return "";
  return slices[encodingOf(encoding)](from === 0 && to === length ? this : Uint8Array.prototype.subarray.call(this, from, to));
}

const packageWrite = methods["write"] as (this: Uint8Array, text: string, offset: number, length: number, encoding: string) => number;

/** Writes as many whole characters as fit. @returns bytes written */
function writeText(target: Uint8Array, text: string, encoding: Encoding): number {
  if (encoding === "utf8") return encodeInto(text, target).written;
  if (encoding === "ucs2") return writeCodes(target, text, 2);
  if (encoding === "latin1" || encoding === "ascii") return writeCodes(target, text, 1);
  if (encoding === "hex") return writeHex(target, text);
  return Reflect.apply(packageWrite, target, [text, 0, target.length, "base64"]);
}

/** Stops at the first pair that is not hexadecimal, as Node does. */
function writeHex(target: Uint8Array, text: string): number {
  const count = Math.min(text.length >> 1, target.length);
  for (let index = 0; index < count; index++) {
    const pair = text.slice(index * 2, index * 2 + 2);
    if (!/^[0-9a-f]{2}$/i.test(pair)) return index;
    target[index] = Number.parseInt(pair, 16);
  }
  return count;
}

function writeCodes(target: Uint8Array, text: string, size: 1 | 2): number {
  const count = Math.min(text.length, Math.floor(target.length / size));
  for (let index = 0; index < count; index++) {
    const code = text.charCodeAt(index);
    target[index * size] = code;
    if (size === 2) target[index * 2 + 1] = code >> 8;
  }
  return count * size;
}

function write(this: Buffer, text: unknown, ...args: unknown[]): number {
  let [offset, length, encoding] = args;
  if (typeof text !== "string") throw invalidArgument("argument", "of type string", text);
  // As in Node, the encoding is read only if there is an offset.
  if (offset === undefined) return writeText(this, text, "utf8");
  if (length === undefined && typeof offset === "string") return writeText(this, text, encodingOf(offset));
  validateOffset(offset, "offset", 0, this.length);
  const remaining = this.length - offset;
  if (typeof length === "string") {
    encoding = length;
    length = undefined;
  }
  if (length !== undefined) validateOffset(length, "length", 0, this.length);
  const end = offset + Math.min(remaining, length ?? remaining);
  return writeText(Uint8Array.prototype.subarray.call(this, offset, end), text, encodingOf(encoding));
}

const byteLengths: Readonly<Record<Encoding, (text: string) => number>> = {
  utf8: (text) => encodeUtf8(text).length,
  ucs2: (text) => text.length * 2,
  latin1: (text) => text.length,
  ascii: (text) => text.length,
  hex: (text) => text.length >>> 1,
  base64: base64Length,
  base64url: base64Length,
};

/** Length of the decoded bytes, if every character is valid base64. */
function base64Length(text: string): number {
  let { length } = text;
  if (text[length - 1] === "=") {
    length -= 1;
    if (length > 1 && text[length - 1] === "=") length -= 1;
  }
  return (length * 3) >>> 2;
}

function byteLength(value: unknown, encoding: unknown): number {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value !== "string") throw invalidArgument("string", "of type string or an instance of Buffer or ArrayBuffer", value);
  return byteLengths[findEncoding(encoding) ?? "utf8"](value);
}

function fromHex(text: string): Buffer {
  const bytes = new Uint8Array(text.length >> 1);
  return asBufferView(bytes.subarray(0, writeHex(bytes, text)));
}

export function patchText(): void {
  const from = statics["from"] as (...args: unknown[]) => unknown;
  define(methods, "toString", toString);
  define(methods, "toLocaleString", toString);
  define(methods, "write", write);
  define(statics, "byteLength", byteLength);
  define(statics, "isEncoding", (name: unknown) => typeof name === "string" && name !== "" && findEncoding(name) !== undefined);
  define(statics, "from", (value: unknown, encoding: unknown, length: unknown) => {
    if (typeof value !== "string") return from.call(Buffer, value, encoding, length);
    const known = typeof encoding === "string" ? encodingOf(encoding) : "utf8";
    if (known === "hex") return fromHex(value);
    // The package loses the second of two unpaired surrogates.
    if (known === "utf8") return asBufferView(encodeUtf8(value));
    return from.call(Buffer, value, known === "base64url" ? "base64" : known);
  });
  for (const [encoding, slice] of Object.entries(slices)) {
    define(methods, `${encoding}Slice`, function (this: Buffer, start = 0, end = this.length) {
      return slice(Uint8Array.prototype.subarray.call(this, Number(start), Number(end)));
    });
    define(methods, `${encoding}Write`, function (this: Buffer, text: string, offset = 0, length = this.length - offset) {
      return writeText(Uint8Array.prototype.subarray.call(this, offset, offset + length), text, encodingOf(encoding));
    });
  }
}

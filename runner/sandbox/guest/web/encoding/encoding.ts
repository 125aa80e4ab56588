import { isBufferSource, toBytes } from "./bytes.ts";
import type { Bytes, BufferSource } from "./bytes.ts";
import { tag } from "../define.ts";
import { decodeUtf8, encodeInto, encodeUtf8, invalid, unfinishedUtf8 } from "./utf8.ts";

const { apply } = Reflect;
const { fromCharCode } = String;
const batch = 4096;

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }
  encode(text: unknown = ""): Bytes {
    return encodeUtf8(String(text));
  }
  encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
    if (!(target instanceof Uint8Array)) throw new TypeError('The "dest" argument must be an instance of Uint8Array.');
    return encodeInto(String(text), target);
  }
}

const labels: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "unicode-1-1-utf-8": "utf-8",
  unicode11utf8: "utf-8",
  unicode20utf8: "utf-8",
  "x-unicode20utf8": "utf-8",
  "utf-16le": "utf-16le",
  "utf-16": "utf-16le",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  unicode: "utf-16le",
  "iso-10646-ucs-2": "utf-16le",
  "ucs-2": "utf-16le",
  "utf-16be": "utf-16be",
  latin1: "windows-1252",
  l1: "windows-1252",
  ascii: "windows-1252",
  "us-ascii": "windows-1252",
  "iso-8859-1": "windows-1252",
  "iso8859-1": "windows-1252",
  iso88591: "windows-1252",
  "iso_8859-1": "windows-1252",
  "windows-1252": "windows-1252",
  cp1252: "windows-1252",
  "x-cp1252": "windows-1252",
});

/** 0x80 to 0x9F of windows-1252; the rest is the code point itself. */
const windows1252 =
  "\u20AC\x81\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\x8D\u017D\x8F\x90\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\x9D\u017E\u0178";

/** utf-8, utf-16le, utf-16be and windows-1252 (with its many names, latin1 among them). */
export class TextDecoder {
  readonly #encoding: string;
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;
  #unfinished: Bytes | undefined;
  #isBomSeen = false;

  constructor(label: unknown = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } | undefined = {}) {
    const encoding = labels[String(label).trim().toLowerCase()];
    if (encoding === undefined)
      throw Object.assign(new RangeError(`The "${String(label)}" encoding is not supported`), {
        code: "ERR_ENCODING_NOT_SUPPORTED",
      });
    this.#encoding = encoding;
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBom = Boolean(options?.ignoreBOM);
  }

  get encoding(): string {
    return this.#encoding;
  }
  get fatal(): boolean {
    return this.#fatal;
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }

  decode(input?: BufferSource, options?: { stream?: boolean }): string {
    if (input !== undefined && !isBufferSource(input))
      throw new TypeError('The "list" argument must be an instance of ArrayBuffer or ArrayBufferView.');
    const isLast = options?.stream !== true;
    const bytes = this.#take(input === undefined ? new Uint8Array(0) : toBytes(input), isLast);
    const text = this.#decodeWhole(bytes);
    const isBom = !this.#isBomSeen && !this.#ignoreBom && text.charCodeAt(0) === 0xfeff && this.#encoding !== "windows-1252";
    this.#isBomSeen = !isLast && (this.#isBomSeen || text !== "");
    return isBom ? text.slice(1) : text;
  }

  #take(input: Bytes, isLast: boolean): Bytes {
    let bytes = input;
    if (this.#unfinished !== undefined) {
      bytes = new Uint8Array(this.#unfinished.length + input.length);
      bytes.set(this.#unfinished);
      bytes.set(input, this.#unfinished.length);
      this.#unfinished = undefined;
    }
    const left = isLast
      ? 0
      : this.#encoding === "utf-8"
        ? unfinishedUtf8(bytes)
        : this.#encoding === "windows-1252"
          ? 0
          : unfinishedUtf16(bytes, this.#encoding === "utf-16be");
    if (left === 0) return bytes;
    this.#unfinished = bytes.slice(bytes.length - left);
    return bytes.subarray(0, bytes.length - left);
  }

  #decodeWhole(bytes: Bytes): string {
    switch (this.#encoding) {
      case "utf-8":
        return decodeUtf8(bytes, this.#fatal);
      case "utf-16le":
        return decodeUtf16(bytes, this.#fatal, false);
      case "utf-16be":
        return decodeUtf16(bytes, this.#fatal, true);
      default:
        return decodeWindows1252(bytes);
    }
  }
}

function unfinishedUtf16(bytes: Bytes, isBigEndian: boolean): number {
  const odd = bytes.length % 2;
  const high = bytes[bytes.length - odd - (isBigEndian ? 2 : 1)] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
}

function decodeUtf16(bytes: Bytes, fatal: boolean, isBigEndian: boolean): string {
  let text = "";
  const [low, high] = isBigEndian ? [1, 0] : [0, 1];
  for (let at = 0; at + 1 < bytes.length; at += batch * 2) {
    const units = new Uint16Array(Math.min(batch, (bytes.length - at) >> 1));
    for (let index = 0; index < units.length; index++)
      units[index] = (bytes[at + index * 2 + low] ?? 0) | ((bytes[at + index * 2 + high] ?? 0) << 8);
    text += apply(fromCharCode, undefined, units as unknown as number[]);
  }
  // An incomplete unit behind an unpaired surrogate is one error with it (Encoding Standard, "UTF-16 decoder").
  if (bytes.length % 2 === 1 && !/[\uD800-\uDBFF]$/.test(text)) text += "\uFFFD";
  if (fatal && (bytes.length % 2 === 1 || !text.isWellFormed())) throw invalid();
  return text.toWellFormed();
}

function decodeWindows1252(bytes: Bytes): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += batch) {
    const units = Uint16Array.from(bytes.subarray(at, at + batch));
    for (let index = 0; index < units.length; index++) {
      const unit = units[index] as number;
      if (unit >= 0x80 && unit < 0xa0) units[index] = windows1252.charCodeAt(unit - 0x80);
    }
    text += apply(fromCharCode, undefined, units as unknown as number[]);
  }
  return text;
}

tag(TextEncoder, "TextEncoder");
tag(TextDecoder, "TextDecoder");

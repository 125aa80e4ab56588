import { unfinishedUtf8 } from "../../web/encoding/utf8.ts";
import { Buffer } from "../buffer/buffer.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { nodeError } from "../errors.ts";

type Encoding = "utf8" | "utf16le" | "base64" | "base64url" | "latin1" | "ascii" | "hex";

const names: Readonly<Record<string, Encoding>> = Object.assign(
  Object.create(null) as object,
  {
    utf8: "utf8",
    "utf-8": "utf8",
    ucs2: "utf16le",
    "ucs-2": "utf16le",
    utf16le: "utf16le",
    "utf-16le": "utf16le",
    latin1: "latin1",
    binary: "latin1",
    base64: "base64",
    base64url: "base64url",
    ascii: "ascii",
    hex: "hex",
  } as const,
);

/** Number of bytes at the end that start an incomplete character. */
const unfinished: Readonly<Record<Encoding, (bytes: Buffer) => number>> = {
  utf8: unfinishedUtf8,
  // Half a unit, or the first of two units that make one character.
  utf16le: (bytes) => {
    const high = bytes.at(-1) ?? 0;
    return bytes.length % 2 === 1 ? 1 : high >= 0xd8 && high <= 0xdb ? 2 : 0;
  },
  base64: (bytes) => bytes.length % 3,
  base64url: (bytes) => bytes.length % 3,
  latin1: () => 0,
  ascii: () => 0,
  hex: () => 0,
};

/** Node's `StringDecoder`. A function, since old packages call it without `new`. */
function StringDecoder(this: StringDecoderState, given?: unknown): void {
  const encoding = given === undefined || given === null || given === "" ? "utf8" : names[String(given).toLowerCase()];
  if (encoding === undefined) throw nodeError("ERR_UNKNOWN_ENCODING", `Unknown encoding: ${String(given)}`, TypeError);
  this.encoding = encoding;
  Object.defineProperty(this, "kept", { value: Buffer.alloc(0), writable: true, enumerable: false });
}

interface StringDecoderState {
  encoding: Encoding;
  kept: Buffer;
}

StringDecoder.prototype.write = function (this: StringDecoderState, chunk: unknown): string {
  if (typeof chunk === "string") return chunk;
  const bytes =
    this.kept.length === 0 ? asBuffer(toBytes(chunk, undefined, "buf")) : Buffer.concat([this.kept, toBytes(chunk, undefined, "buf")]);
  const whole = bytes.length - unfinished[this.encoding](bytes);
  // A copy: the caller may reuse its buffer.
  this.kept = Buffer.from(bytes.subarray(whole));
  return bytes.toString(this.encoding, 0, whole);
};

StringDecoder.prototype.end = function (this: StringDecoderState & { write(chunk: unknown): string }, chunk?: unknown): string {
  const text = chunk === undefined ? "" : this.write(chunk);
  const rest = this.kept.toString(this.encoding);
  this.kept = Buffer.alloc(0);
  return text + rest;
};

StringDecoder.prototype.text = function (this: { write(chunk: unknown): string }, bytes: Uint8Array, offset: number): string {
  return this.write(bytes.slice(offset));
};

/** A decoder as the layer's own modules use it. */
export interface Decoder {
  write(chunk: Uint8Array): string;
  end(chunk?: Uint8Array): string;
}
export const createDecoder = (encoding: string): Decoder => new (StringDecoder as unknown as new (encoding: string) => Decoder)(encoding);

export { StringDecoder };
/** `node:string_decoder`. */
export default { StringDecoder };

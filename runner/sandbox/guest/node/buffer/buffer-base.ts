import { Buffer } from "buffer/";
import { invalidArgument, nodeError, outOfRange, type NodeError } from "../errors.ts";

type Method = (this: Buffer, ...args: unknown[]) => unknown;

/** The package implements Node 6's Buffer; methods that changed since are overridden by name. */
export const methods = Buffer.prototype as unknown as Record<string | symbol, Method>;
export const statics = Buffer as unknown as Record<string, (...args: unknown[]) => unknown>;

/** Enumerable, as in Node: some packages iterate over the methods. */
export function define(target: object, name: string | symbol, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: typeof name === "string" });
}

export function validateNumber(value: unknown, name: string): asserts value is number {
  if (typeof value !== "number") throw invalidArgument(name, "of type number", value);
}

/** An integer from `min` to `max`. */
export function validateOffset(value: unknown, name: string, min = 0, max = Number.MAX_SAFE_INTEGER): asserts value is number {
  validateNumber(value, name);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
}

export const outOfBounds = (): NodeError =>
  nodeError("ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds", RangeError);

export type Encoding = "utf8" | "ucs2" | "latin1" | "ascii" | "hex" | "base64" | "base64url";

const encodings: Readonly<Record<string, Encoding>> = Object.assign(
  Object.create(null) as object,
  {
    utf8: "utf8",
    "utf-8": "utf8",
    ucs2: "ucs2",
    "ucs-2": "ucs2",
    utf16le: "ucs2",
    "utf-16le": "ucs2",
    latin1: "latin1",
    binary: "latin1",
    ascii: "ascii",
    hex: "hex",
    base64: "base64",
    base64url: "base64url",
  } as const,
);

export const findEncoding = (name: unknown): Encoding | undefined =>
  typeof name === "string" ? (encodings[name] ?? encodings[name.toLowerCase()]) : undefined;

export function encodingOf(name: unknown): Encoding {
  const found = name === undefined || name === "" ? "utf8" : findEncoding(name);
  if (found === undefined) throw nodeError("ERR_UNKNOWN_ENCODING", `Unknown encoding: ${String(name)}`, TypeError);
  return found;
}

/** Bytes of any view, as the package's own class. */
export const asBufferView = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);

export { Buffer };

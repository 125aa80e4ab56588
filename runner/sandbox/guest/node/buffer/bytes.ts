import { Buffer } from "./buffer.ts";
import { invalidArgument } from "../errors.ts";

/** Bytes of a string, buffer, typed array, DataView or ArrayBuffer; only strings are copied. */
export function toBytes(data: unknown, encoding?: unknown, name = "data"): Uint8Array<ArrayBuffer> {
  if (typeof data === "string") return Buffer.from(data, typeof encoding === "string" && encoding !== "buffer" ? encoding : "utf8");
  // Bytes given to the host are copied by the isolate; SharedArrayBuffer does not exist here, so the cast is safe.
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw invalidArgument(name, "of type string or an instance of Buffer, TypedArray, or DataView", data);
}

/** A Buffer over the same memory, or text when an encoding is given. */
export function output(bytes: Uint8Array<ArrayBuffer>, encoding?: unknown): Buffer | string {
  const buffer = asBuffer(bytes);
  return typeof encoding === "string" && encoding !== "buffer" ? buffer.toString(encoding) : buffer;
}

export function asBuffer(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function concatBytes(chunks: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const result = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    result.set(chunk, at);
    at += chunk.length;
  }
  return result;
}

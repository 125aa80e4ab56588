import type { Buffer } from "buffer/";
import { define, methods, validateNumber } from "./buffer-base.ts";
import { nodeError, outOfRange } from "../errors.ts";

type View = "Uint8" | "Uint16" | "Uint32" | "Int8" | "Int16" | "Int32" | "Float32" | "Float64" | "BigInt64" | "BigUint64";

/** Node's name, DataView's name, size in bytes, and bounds of a value. */
const kinds: readonly (readonly [name: string, view: View, bytes: number, min?: number | bigint, max?: number | bigint])[] = [
  ["UInt8", "Uint8", 1, 0, 255],
  ["Int8", "Int8", 1, -128, 127],
  ["UInt16", "Uint16", 2, 0, 65_535],
  ["Int16", "Int16", 2, -32_768, 32_767],
  ["UInt32", "Uint32", 4, 0, 2 ** 32 - 1],
  ["Int32", "Int32", 4, -(2 ** 31), 2 ** 31 - 1],
  ["Float", "Float32", 4],
  ["Double", "Float64", 8],
  ["BigInt64", "BigInt64", 8, -(2n ** 63n), 2n ** 63n - 1n],
  ["BigUInt64", "BigUint64", 8, 0n, 2n ** 64n - 1n],
];

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Node's error for an offset (or a size, see `type`) that is out of range. */
function boundsError(value: number, max: number, type?: string): Error {
  if (Math.floor(value) !== value) {
    validateNumber(value, type ?? "offset");
    return outOfRange(type ?? "offset", "an integer", value);
  }
  if (max < 0) return nodeError("ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds", RangeError);
  return outOfRange(type ?? "offset", `>= ${type === undefined ? 0 : 1} and <= ${max}`, value);
}

function checkOffset(buffer: Uint8Array, offset: number, bytes: number): void {
  validateNumber(offset, "offset");
  if (buffer[offset] === undefined || buffer[offset + bytes - 1] === undefined) throw boundsError(offset, buffer.length - bytes);
}

function checkValue(value: number | bigint, min: number | bigint, max: number | bigint): void {
  if (value > max || value < min) throw outOfRange("value", `>= ${min} and <= ${max}`, value);
}

function defineBoth(name: string, method: unknown): void {
  define(methods, name, method);
  define(methods, name.replace("UInt", "Uint"), method);
}

function defineFixed([name, view, bytes, min, max]: (typeof kinds)[number]): void {
  for (const end of bytes === 1 ? [""] : ["LE", "BE"]) {
    const isLittle = end === "LE";
    defineBoth(`read${name}${end}`, function (this: Buffer, offset = 0): unknown {
      checkOffset(this, offset, bytes);
      return viewOf(this)[`get${view}`](offset, isLittle);
    });
    defineBoth(`write${name}${end}`, function (this: Buffer, value: number | bigint, offset = 0): number {
      const number = typeof min === "bigint" ? value : Number(value);
      if (min !== undefined && max !== undefined) checkValue(number, min, max);
      checkOffset(this, offset, bytes);
      viewOf(this)[`set${view}`](offset, number as never, isLittle); // a bigint where `min` is one
      return offset + bytes;
    });
  }
}

function checkSize(bytes: number): void {
  validateNumber(bytes, "byteLength");
  if (![1, 2, 3, 4, 5, 6].includes(bytes)) throw boundsError(bytes, 6, "byteLength");
}

/** Integers of one to six bytes. */
function defineAnySize(isSigned: boolean, isLittle: boolean): void {
  const name = `${isSigned ? "Int" : "UInt"}${isLittle ? "LE" : "BE"}`;
  const place = (index: number, bytes: number): number => (isLittle ? index : bytes - 1 - index);
  defineBoth(`read${name}`, function (this: Buffer, offset: number, bytes: number): number {
    validateNumber(offset, "offset");
    checkSize(bytes);
    checkOffset(this, offset, bytes);
    let value = 0;
    for (let index = bytes - 1; index >= 0; index--) value = value * 256 + (this[offset + place(index, bytes)] ?? 0);
    return isSigned && value >= 2 ** (bytes * 8 - 1) ? value - 2 ** (bytes * 8) : value;
  });
  defineBoth(`write${name}`, function (this: Buffer, given: number, offset: number, bytes: number): number {
    checkSize(bytes);
    const value = Number(given);
    checkValue(value, isSigned ? -(2 ** (bytes * 8 - 1)) : 0, 2 ** (bytes * 8 - (isSigned ? 1 : 0)) - 1);
    checkOffset(this, offset, bytes);
    let rest = value < 0 ? value + 2 ** (bytes * 8) : value;
    for (let index = 0; index < bytes; index++) {
      this[offset + place(index, bytes)] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return offset + bytes;
  });
}

export function patchNumbers(): void {
  for (const kind of kinds) defineFixed(kind);
  for (const isSigned of [true, false]) for (const isLittle of [true, false]) defineAnySize(isSigned, isLittle);
}

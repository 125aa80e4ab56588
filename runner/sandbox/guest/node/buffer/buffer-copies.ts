import { asBufferView, Buffer, define, encodingOf, methods, outOfBounds, statics, validateNumber, validateOffset } from "./buffer-base.ts";
import { invalidArgument, nodeError, outOfRange } from "../errors.ts";

function checkBytes(value: unknown, name: string): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) throw invalidArgument(name, "an instance of Buffer or Uint8Array", value);
}

function fill(this: Buffer, given: unknown, ...args: unknown[]): Buffer {
  let [offset, end, encoding] = args;
  if (typeof given === "string") {
    if (offset === undefined || typeof offset === "string") [encoding, offset, end] = [offset, 0, this.length];
    else if (typeof end === "string") [encoding, end] = [end, this.length];
  }
  const pattern = patternOf(given, encoding);
  if (offset === undefined) [offset, end] = [0, this.length];
  validateOffset(offset, "offset");
  const to = end ?? this.length;
  validateOffset(to, "end", 0, this.length);
  const from = offset;
  if (from >= to) return this;
  if (typeof pattern === "number") return Uint8Array.prototype.fill.call(this, pattern, from, to) as Buffer; // this
  if (pattern.length === 0)
    throw nodeError(
      "ERR_INVALID_ARG_VALUE",
      `The argument 'value' is invalid. Received ${typeof given === "string" ? `'${given}'` : "an empty Buffer"}`,
      TypeError,
    );
  for (let at = from; at < to; at++) this[at] = pattern[(at - from) % pattern.length] ?? 0;
  return this;
}

/** Bytes to repeat, or one byte. */
function patternOf(given: unknown, encoding: unknown): Uint8Array | number {
  if (typeof given === "string") {
    const known = encodingOf(encoding);
    return given === "" ? 0 : Buffer.from(given, known);
  }
  return given instanceof Uint8Array ? given : Number(given) & 255;
}

function integer(value: unknown): number {
  const number = Number(value);
  return Number.isSafeInteger(Math.floor(number)) ? Math.floor(number) : 0;
}

function copy(this: Buffer, target: unknown, targetStart: unknown = 0, sourceStart: unknown = 0, sourceEnd: unknown = this.length): number {
  checkBytes(target, "target");
  const [at, from, to] = [integer(targetStart), integer(sourceStart), integer(sourceEnd)];
  if (at < 0) throw outOfRange("targetStart", ">= 0", at);
  if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
  if (to < 0) throw outOfRange("sourceEnd", ">= 0", to);
  if (at >= target.length || from >= to) return 0;
  const bytes = Math.min(to - from, target.length - at, this.length - from);
  target.set(Uint8Array.prototype.subarray.call(this, from, from + bytes), at);
  return bytes;
}

function concat(list: unknown, given?: unknown): Buffer {
  if (!Array.isArray(list)) throw invalidArgument("list", "an instance of Array", list);
  if (given !== undefined) validateOffset(given, "length");
  const parts = list.map((part: unknown, index) => {
    checkBytes(part, `list[${index}]`);
    return part;
  });
  const length = given ?? parts.reduce((sum, part) => sum + part.length, 0);
  const whole = Buffer.alloc(length);
  let at = 0;
  for (const part of parts) {
    if (at >= length) break;
    whole.set(part.length > length - at ? part.subarray(0, length - at) : part, at);
    at += part.length;
  }
  return whole;
}

function order(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

function compare(this: Buffer, target: unknown, ...args: unknown[]): number {
  checkBytes(target, "target");
  const [targetStart = 0, targetEnd = target.length, start = 0, end = this.length] = args;
  validateOffset(targetStart, "targetStart");
  validateOffset(targetEnd, "targetEnd", 0, target.length);
  validateOffset(start, "sourceStart");
  validateOffset(end, "sourceEnd", 0, this.length);
  if (start >= end) return targetStart >= targetEnd ? 0 : -1;
  if (targetStart >= targetEnd) return 1;
  return order(Uint8Array.prototype.subarray.call(this, start, end), target.subarray(targetStart, targetEnd));
}

function swap(size: number): (this: Buffer) => Buffer {
  return function () {
    if (this.length % size !== 0)
      throw nodeError("ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${size * 8}-bits`, RangeError);
    for (let at = 0; at < this.length; at += size) Uint8Array.prototype.subarray.call(this, at, at + size).reverse();
    return this;
  };
}

function alloc(size: unknown, filling?: unknown, encoding?: unknown): Buffer {
  validateNumber(size, "size");
  if (Number.isNaN(size) || size < 0 || size > Number.MAX_SAFE_INTEGER)
    throw outOfRange("size", `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, size);
  const made = packageAlloc(size) as Buffer; // its result
  return filling === undefined || filling === 0 || size === 0 ? made : Reflect.apply(fill, made, [filling, 0, made.length, encoding]);
}
const packageAlloc = (statics["alloc"] as (...args: unknown[]) => unknown).bind(Buffer);

/** Adds Node's error codes, and the cases in which only Node throws. */
function patchFrom(): void {
  const from = statics["from"] as (...args: unknown[]) => unknown;
  define(statics, "from", (value: unknown, ...rest: unknown[]) => {
    if (value instanceof ArrayBuffer) {
      const offset = Number(rest[0] ?? 0) || 0;
      if (offset > value.byteLength || (rest[1] !== undefined && Number(rest[1]) > value.byteLength - offset)) throw outOfBounds();
    }
    try {
      return from(value, ...rest);
    } catch (error) {
      if (!(error instanceof TypeError) || "code" in error) throw error;
      throw invalidArgument(
        "first argument",
        "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object",
        value,
      );
    }
  });
}

export function patchCopies(): void {
  const equals = function (this: Buffer, other: unknown): boolean {
    checkBytes(other, "otherBuffer");
    return this.length === other.length && order(this, other) === 0;
  };
  for (const [name, method] of Object.entries({ fill, copy, compare, equals, swap16: swap(2), swap32: swap(4), swap64: swap(8) }))
    define(methods, name, method);
  define(statics, "alloc", alloc);
  define(statics, "concat", concat);
  define(statics, "compare", (a: unknown, b: unknown) => {
    checkBytes(a, "buf1");
    checkBytes(b, "buf2");
    return order(a, b);
  });
  define(statics, "of", (...bytes: number[]) => asBufferView(Uint8Array.from(bytes)));
  patchFrom();
}

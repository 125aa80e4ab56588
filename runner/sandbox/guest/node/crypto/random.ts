import { sync } from "../../runtime/bridge.ts";
import { Buffer } from "../buffer/buffer.ts";
import { asBuffer } from "../buffer/bytes.ts";
import { invalidArgument, outOfRange } from "../errors.ts";
import { guest } from "../globals.ts";
import { nextTick } from "../timers/next-tick.ts";

type Callback<Result> = (error: unknown, result?: Result) => void;

const maxCall = 1024 * 1024;
const poolBytes = 4096;
let pool = new Uint8Array(0);
let used = 0;

/** Random bytes from the host; small requests share a call. */
function take(count: number): Uint8Array<ArrayBuffer> {
  if (count > poolBytes / 4) return hostBytes(count);
  if (used + count > pool.length) {
    pool = hostBytes(poolBytes);
    used = 0;
  }
  const bytes = pool.slice(used, used + count);
  pool.fill(0, used, used + count); // bytes that were returned must not stay in the pool
  used += count;
  return bytes;
}

function hostBytes(count: number): Uint8Array<ArrayBuffer> {
  if (count <= maxCall) return sync("random", count) as Uint8Array<ArrayBuffer>; // the operation returns bytes
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += maxCall) bytes.set(hostBytes(Math.min(maxCall, count - at)), at);
  return bytes;
}

/** Without a callback, returns the result; otherwise calls back one tick later. */
export function settle<Result>(work: () => Result, callback: unknown): Result | undefined {
  if (callback === undefined) return work();
  if (typeof callback !== "function") throw invalidArgument("callback", "of type function", callback);
  const done = callback as Callback<Result>; // checked on the line above
  let result: Result;
  try {
    result = work();
  } catch (error) {
    nextTick(() => done(error));
    return undefined;
  }
  nextTick(() => done(null, result));
  return undefined;
}

export function randomBytes(size: number, callback?: unknown): Buffer | undefined {
  if (typeof size !== "number") throw invalidArgument("size", "of type number", size);
  if (!(size >= 0 && size <= 64 * maxCall) || !Number.isInteger(size)) throw outOfRange("size", ">= 0 && <= 67108864", size);
  return settle(() => asBuffer(take(size)), callback);
}

export function randomFillSync<Target extends ArrayBufferView | ArrayBuffer>(target: Target, offset = 0, size?: number): Target {
  const unit = ArrayBuffer.isView(target) && "BYTES_PER_ELEMENT" in target ? Number(target.BYTES_PER_ELEMENT) : 1;
  const bytes = ArrayBuffer.isView(target) ? new Uint8Array(target.buffer, target.byteOffset, target.byteLength) : new Uint8Array(target);
  const start = offset * unit;
  const count = size === undefined ? bytes.length - start : size * unit;
  if (start < 0 || start > bytes.length) throw outOfRange("offset", `>= 0 && <= ${bytes.length / unit}`, offset);
  if (count < 0 || start + count > bytes.length) throw outOfRange("size + offset", `<= ${bytes.length}`, start + count);
  bytes.set(take(count), start);
  return target;
}

export function randomFill(target: ArrayBuffer, ...rest: unknown[]): void {
  const callback = rest.pop();
  const [offset, size] = rest as (number | undefined)[]; // randomFillSync checks ranges
  settle(() => randomFillSync(target, offset, size), callback);
}

const range48 = 2 ** 48;

/** Uniform in [min, max): values in the incomplete last range of 48 bits are rejected. */
export function randomInt(first: number, second?: unknown, third?: unknown): number | undefined {
  const single = second === undefined || typeof second === "function";
  const min = single ? 0 : first;
  const max = single ? first : Number(second);
  if (!Number.isSafeInteger(min)) throw invalidArgument("min", "a safe integer", min);
  if (!Number.isSafeInteger(max)) throw invalidArgument("max", "a safe integer", max);
  const range = max - min;
  if (range <= 0) throw outOfRange("max", `greater than the value of "min" (${min})`, max);
  if (range >= range48) throw outOfRange(single ? "max" : "max - min", "<= 281474976710655", range);
  const limit = range48 - (range48 % range);
  const draw = (): number => {
    for (;;) {
      const value = take(6).reduce((sum, byte) => sum * 256 + byte, 0);
      if (value < limit) return min + (value % range);
    }
  };
  return settle(draw, single ? second : third);
}

export const randomUUID = (): string => {
  const bytes = take(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = asBuffer(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

export const getRandomValues = <Target>(array: Target): Target => guest.crypto.getRandomValues(array);

import { types } from "../inspect/util-types.ts";

type Pairs = [unknown, unknown][];

/** Node's `isDeepStrictEqual`, and the loose comparison of `assert.deepEqual`. */
export function isDeepEqual(a: unknown, b: unknown, strict: boolean): boolean {
  return equal(a, b, strict, []);
}

function equal(a: unknown, b: unknown, strict: boolean, seen: Pairs): boolean {
  if (strict ? Object.is(a, b) : a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    // An object never equals a primitive here: `==` could call its methods, which may throw.
    if (strict || (typeof a === "object" && a !== null) || (typeof b === "object" && b !== null)) return false;
    // eslint-disable-next-line eqeqeq -- the loose form of assert compares as == does, and takes NaN for equal
    return a == b || (a !== a && b !== b);
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (seen.some(([left, right]) => left === a && right === b)) return true;
  const pairs: Pairs = [...seen, [a, b]];
  return sameKind(a, b, strict) && sameContent(a, b, strict, pairs) && sameProperties(a, b, strict, pairs);
}

const viewKind = (view: ArrayBufferView): unknown =>
  Reflect.get(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag, view);

function sameKind(a: object, b: object, strict: boolean): boolean {
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (strict && Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && viewKind(a) !== viewKind(b)) return false;
  for (const test of [
    types.isDate,
    types.isRegExp,
    types.isMap,
    types.isSet,
    types.isNativeError,
    types.isArrayBufferView,
    types.isAnyArrayBuffer,
    types.isBoxedPrimitive,
  ]) {
    if (test(a) !== test(b)) return false;
  }
  return true;
}

function sameContent(a: object, b: object, strict: boolean, seen: Pairs): boolean {
  if (a instanceof Date && b instanceof Date)
    return a.getTime() === b.getTime() || (Number.isNaN(a.getTime()) && Number.isNaN(b.getTime()));
  if (a instanceof RegExp && b instanceof RegExp) return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
  if (a instanceof Error && b instanceof Error)
    return a.message === b.message && a.name === b.name && equal(a.cause, b.cause, strict, seen);
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b))
    return sameBytes(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), new Uint8Array(b.buffer, b.byteOffset, b.byteLength));
  if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) return sameBytes(new Uint8Array(a), new Uint8Array(b));
  if (a instanceof Map && b instanceof Map) return sameMaps(a, b, strict, seen);
  if (a instanceof Set && b instanceof Set) return sameSets(a, b, strict, seen);
  if (types.isBoxedPrimitive(a)) return Object.is(a.valueOf(), b.valueOf());
  if (types.isWeakMap(a) || types.isWeakSet(a) || types.isPromise(a)) return false;
  return !(Array.isArray(a) && Array.isArray(b)) || a.length === b.length;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, index) => byte === b[index]);

function sameSets(a: Set<unknown>, b: Set<unknown>, strict: boolean, seen: Pairs): boolean {
  if (a.size !== b.size) return false;
  const left = [...b].filter((item) => !a.has(item));
  for (const item of a) {
    if (b.has(item)) continue;
    const index = left.findIndex((other) => equal(item, other, strict, seen));
    if (index === -1) return false;
    left.splice(index, 1);
  }
  return true;
}

function sameMaps(a: Map<unknown, unknown>, b: Map<unknown, unknown>, strict: boolean, seen: Pairs): boolean {
  if (a.size !== b.size) return false;
  const left = [...b].filter(([key]) => !a.has(key));
  for (const [key, value] of a) {
    if (b.has(key)) {
      if (!equal(value, b.get(key), strict, seen)) return false;
      continue;
    }
    const index = left.findIndex(([otherKey, other]) => equal(key, otherKey, strict, seen) && equal(value, other, strict, seen));
    if (index === -1) return false;
    left.splice(index, 1);
  }
  return true;
}

function sameProperties(a: object, b: object, strict: boolean, seen: Pairs): boolean {
  const keys = keysOf(a, strict);
  if (keys.length !== keysOf(b, strict).length) return false;
  return keys.every(
    (key) =>
      Object.prototype.propertyIsEnumerable.call(b, key) &&
      equal((a as Record<string | symbol, unknown>)[key], (b as Record<string | symbol, unknown>)[key], strict, seen),
  );
}

function keysOf(value: object, strict: boolean): (string | symbol)[] {
  const names = ArrayBuffer.isView(value) ? [] : Object.keys(value);
  return strict
    ? [...names, ...Object.getOwnPropertySymbols(value).filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol))]
    : names;
}

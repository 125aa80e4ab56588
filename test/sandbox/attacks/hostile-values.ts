/** Makers of values that arguments should not have, each fresh: using one may change it. */
export const hostileValues: Readonly<Record<string, () => unknown>> = {
  "-0": () => -0,
  NaN: () => NaN,
  Infinity: () => Infinity,
  "-Infinity": () => -Infinity,
  "-1": () => -1,
  "0.5": () => 0.5,
  "2^31 - 1": () => 2 ** 31 - 1,
  "2^31": () => 2 ** 31,
  "-2^31": () => -(2 ** 31),
  "2^32 - 1": () => 2 ** 32 - 1,
  "2^32": () => 2 ** 32,
  "2^53": () => 2 ** 53,
  "5e-324": () => 5e-324,
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  "an integer of any size": () => 2n ** 70n,
  "an empty text": () => "",
  "a text with a zero": () => "a\0b",
  "half of a pair": () => "\ud800",
  "a long text": () => "x".repeat(70_000),
  "a text of parts": () => `${"x".repeat(40_000)}${"y".repeat(40_000)}`,
  __proto__text: () => "__proto__",
  constructor: () => "constructor",
  "no bytes": () => new Uint8Array(0),
  "many bytes": () => new Uint8Array(2 ** 20 + 1),
  "detached bytes": () => {
    const bytes = new Uint8Array(8);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
  },
  "bytes beyond a buffer that shrank": () => {
    const buffer = new ArrayBuffer(16, { maxByteLength: 32 });
    const bytes = new Uint8Array(buffer, 8, 8);
    buffer.resize(0);
    return bytes;
  },
  "bytes of a buffer that grows": () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 2 ** 20 })),
  "shared bytes": () => new Uint8Array(new SharedArrayBuffer(8)),
  "an ArrayBuffer": () => new ArrayBuffer(8),
  "a SharedArrayBuffer": () => new SharedArrayBuffer(8),
  "a DataView": () => new DataView(new ArrayBuffer(8)),
  "a Float64Array": () => new Float64Array([NaN, -0]),
  "an empty list": () => [],
  "a list with holes": () => Object.assign([], { 1: 1, length: 3 }),
  "a list in lists": () => {
    let list: unknown[] = [];
    for (let depth = 0; depth < 100; depth++) list = [list];
    return list;
  },
  "a long list": () => Array.from({ length: 5_000 }, (_, index) => index),
  "something with a length": () => ({ length: 2 ** 32, byteLength: 2 ** 32 }),
  "an empty object": () => ({}),
  "an object without prototype": () => Object.create(null) as object,
  "a cycle": () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    return circle;
  },
  "a getter that throws": () =>
    Object.defineProperty({}, "key", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    }),
  "a proxy of bytes": () => new Proxy(new Uint8Array(8), {}),
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      },
    ),
  "what becomes a number": () => ({ valueOf: () => 1, toString: () => "1" }),
  "a Date": () => new Date(NaN),
  "a Map": () => new Map([[1, 2]]),
  "a function": () => () => 1,
  "a symbol": () => Symbol("x"),
};

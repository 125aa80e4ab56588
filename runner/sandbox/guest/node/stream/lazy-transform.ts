import { Transform } from "./stream.ts";

interface Lazy {
  _readableState: unknown;
  _writableState: { decodeStrings?: boolean };
}

/**
 * A Transform that initializes its stream on first use. Hashes and ciphers are streams in Node, and the initialization
 * costs ten times what the hash does, while few programs pipe into them.
 */
export const LazyTransform = function () {} as unknown as new () => Transform; // the prototype chain is tied on the next line
Object.setPrototypeOf(LazyTransform.prototype, Transform.prototype);
Object.setPrototypeOf(LazyTransform, Transform);

const begin = Transform as unknown as (this: unknown) => void; // readable-stream's classes are plain functions

for (const name of ["_readableState", "_writableState"] as const) {
  Object.defineProperty(LazyTransform.prototype, name, {
    configurable: true,
    get(this: Lazy) {
      Reflect.apply(begin, this, []);
      this._writableState.decodeStrings = false;
      return this[name];
    },
    set(this: Lazy, value: unknown) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
    },
  });
}

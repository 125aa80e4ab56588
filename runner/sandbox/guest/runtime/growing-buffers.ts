/**
 * Counts the bytes of buffers that may grow. V8 takes their memory from the system and not from the isolate's allocator, so the memory limit
 * would not count it. Each of them has a counterweight, a plain buffer of as many bytes, which the allocator counts. It is never written,
 * so the system gives it no pages. A buffer that is too large is refused with a RangeError, as in any engine without room.
 */
const NativeArrayBuffer = ArrayBuffer;
const { apply, construct } = Reflect;
const counterweights = new WeakMap<ArrayBuffer, ArrayBuffer>();
const setCounterweight = counterweights.set.bind(counterweights);
const resizable = getterOf("resizable");
const byteLength = getterOf("byteLength");
const { resize, transfer } = ArrayBuffer.prototype;

function getterOf(property: "resizable" | "byteLength"): () => unknown {
  const getter = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, property)?.get;
  if (getter === undefined) throw new Error(`an ArrayBuffer has no ${property} here`);
  return getter;
}

/** @throws RangeError as the isolate's memory limit has no room for it */
function weighed(buffer: ArrayBuffer): ArrayBuffer {
  if (apply(resizable, buffer, []) === true) setCounterweight(buffer, new NativeArrayBuffer(apply(byteLength, buffer, []) as number));
  return buffer;
}

const counted = new Proxy(NativeArrayBuffer, {
  __proto__: null,
  construct: (target, args, newTarget) => weighed(construct(target, args, newTarget === counted ? target : newTarget) as ArrayBuffer),
} as ProxyHandler<ArrayBufferConstructor>);

/** Methods and not functions: these cannot be constructed, as those that they replace. */
const methods = {
  resize(this: ArrayBuffer, newLength: unknown): void {
    const length = +(newLength as number); // once: it may be an object that counts its readers
    const counterweight = new NativeArrayBuffer(length);
    apply(resize, this, [length]);
    setCounterweight(this, counterweight);
  },
  transfer(this: ArrayBuffer, ...newLength: unknown[]): ArrayBuffer {
    return weighed(apply(transfer, this, newLength) as ArrayBuffer);
  },
};

Object.defineProperty(methods.transfer, "length", { value: 0, configurable: true });
define(ArrayBuffer.prototype, "constructor", counted);
define(ArrayBuffer.prototype, "resize", methods.resize);
define(ArrayBuffer.prototype, "transfer", methods.transfer);
define(globalThis, "ArrayBuffer", counted);

function define(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, enumerable: false, configurable: true });
}

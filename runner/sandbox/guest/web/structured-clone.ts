import { Blob } from "./fetch/blob.ts";
import { DOMException } from "./events/dom-exception.ts";

interface Options {
  readonly transfer?: readonly unknown[];
}

const errorTypes: Readonly<Record<string, ErrorConstructor>> = Object.assign(Object.create(null), {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
});
const toText = Object.prototype.toString;
const typedArrayTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)?.get;

/** HTML, "structured clone": values, collections, buffers, errors, with cycles kept. Throws DataCloneError for functions and symbols. */
export function structuredClone(value: unknown, options?: Options): unknown {
  const memory = new Map<object, unknown>();
  for (const transferred of options?.transfer ?? []) {
    if (!(transferred instanceof ArrayBuffer)) throw failure("Value could not be transferred: only an ArrayBuffer can");
    memory.set(transferred, transferred.transfer());
  }
  return clone(value, memory);
}

function clone(value: unknown, memory: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw failure(`${String(value)} could not be cloned.`);
  if (typeof value !== "object" || value === null) return value;
  if (memory.has(value)) return memory.get(value);
  const copy = cloneLeaf(value, memory);
  if (copy !== undefined) {
    memory.set(value, copy);
    return copy;
  }
  return cloneContainer(value, memory);
}

/** Clones values without nested values; returns undefined for all others. */
function cloneLeaf(value: object, memory: Map<object, unknown>): object | undefined {
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return cloneView(value, memory);
  if (value instanceof Blob || value instanceof DOMException) return value;
  if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef || value instanceof Promise)
    throw failure(`${toText.call(value)} could not be cloned.`);
  switch (toText.call(value)) {
    case "[object Boolean]":
    case "[object Number]":
    case "[object String]":
    case "[object BigInt]":
      return Object(value.valueOf()) as object;
    case "[object Symbol]":
      throw failure("Object(Symbol()) could not be cloned.");
    default:
      return undefined;
  }
}

type ViewConstructor = new (buffer: ArrayBuffer, offset: number, length?: number) => ArrayBufferView;

/** Views on one buffer stay views on one buffer. */
function cloneView(view: ArrayBufferView, memory: Map<object, unknown>): ArrayBufferView {
  const buffer = clone(view.buffer, memory) as ArrayBuffer; // a clone has the type of its original
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength);
  // By the tag and not by `constructor`: a Buffer becomes a Uint8Array, as in Node.
  const name = typedArrayTag === undefined ? "Uint8Array" : String(Reflect.apply(typedArrayTag, view, []));
  const Type = (globalThis as unknown as Record<string, ViewConstructor>)[name] ?? Uint8Array;
  return new Type(buffer, view.byteOffset, (view as Uint8Array).length);
}

function cloneContainer(value: object, memory: Map<object, unknown>): object {
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    memory.set(value, copy);
    for (const [key, member] of [...value]) copy.set(clone(key, memory), clone(member, memory));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    memory.set(value, copy);
    for (const member of [...value]) copy.add(clone(member, memory));
    return copy;
  }
  if (value instanceof Error) return cloneError(value, memory);
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? new Array(value.length) : {};
  memory.set(value, copy);
  for (const key of Object.keys(value)) {
    const member = clone((value as Record<string, unknown>)[key], memory);
    Object.defineProperty(copy, key, { value: member, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneError(error: Error, memory: Map<object, unknown>): Error {
  const Type = errorTypes[error.name] ?? Error;
  const copy = new Type(error.message);
  memory.set(error, copy);
  Object.defineProperty(copy, "stack", { value: error.stack, writable: true, configurable: true });
  if ("cause" in error) Object.defineProperty(copy, "cause", { value: clone(error.cause, memory), writable: true, configurable: true });
  return copy;
}

function failure(message: string): DOMException {
  return new DOMException(message, "DataCloneError");
}

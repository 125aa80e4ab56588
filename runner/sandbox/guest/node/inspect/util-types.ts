// `util.types`: brand checks by the getters and methods of the intrinsics, which throw on a foreign receiver. A Proxy cannot be
// distinguished from its target inside an isolate, and the state of a promise cannot be read.

type Test = (value: unknown) => boolean;

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
const isObject = (value: unknown): value is object => (typeof value === "object" && value !== null) || typeof value === "function";

function answers(method: unknown, ...args: unknown[]): Test {
  return (value) => {
    if (!isObject(value) || typeof method !== "function") return false;
    try {
      Reflect.apply(method as () => unknown, value, args); // checked on the line above
      return true;
    } catch {
      return false;
    }
  };
}
const getter = (prototype: object, name: string | symbol): unknown => Object.getOwnPropertyDescriptor(prototype, name)?.get;
const typedArrayTag = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) as () => string | undefined; // exists since ES2015

/** Name of a typed array's class, or undefined for anything else. */
export const typedArrayName = (value: unknown): string | undefined =>
  isObject(value) ? Reflect.apply(typedArrayTag, value, []) : undefined;
const typed =
  (name: string): Test =>
  (value) =>
    typedArrayName(value) === name;

const isDate = answers(Date.prototype.getTime);
const isRegExp: Test = (value) => value !== RegExp.prototype && answers(getter(RegExp.prototype, "source"))(value);
const isMap = answers(getter(Map.prototype, "size"));
const isSet = answers(getter(Set.prototype, "size"));
const isArrayBuffer = answers(getter(ArrayBuffer.prototype, "byteLength"));
const isNumberObject: Test = (value) => typeof value === "object" && answers(Number.prototype.valueOf)(value);
const isStringObject: Test = (value) => typeof value === "object" && answers(String.prototype.valueOf)(value);
const isBooleanObject: Test = (value) => typeof value === "object" && answers(Boolean.prototype.valueOf)(value);
const isBigIntObject: Test = (value) => typeof value === "object" && answers(BigInt.prototype.valueOf)(value);
const isSymbolObject: Test = (value) => typeof value === "object" && answers(Symbol.prototype.valueOf)(value);
const isErrorBrand = (Error as unknown as { isError?: Test }).isError; // newer than es2024
const isNativeError: Test = (value) =>
  isErrorBrand === undefined ? isObject(value) && (tagOf(value) === "Error" || value instanceof Error) : isErrorBrand(value);

const AsyncFunction = (async () => {}).constructor;
const GeneratorFunction = function* () {}.constructor;
const AsyncGeneratorFunction = async function* () {}.constructor;
const instance =
  (Class: unknown): Test =>
  (value) =>
    typeof value === "function" && typeof Class === "function" && value instanceof Class;
const named =
  (name: string): Test =>
  (value) =>
    isObject(value) && value.constructor?.name === name;

export const types = {
  isDate,
  isRegExp,
  isMap,
  isSet,
  isWeakMap: answers(WeakMap.prototype.has, {}),
  isWeakSet: answers(WeakSet.prototype.has, {}),
  isPromise: (value: unknown): boolean => value instanceof Promise,
  isNativeError,
  isArrayBuffer,
  isAnyArrayBuffer: isArrayBuffer,
  isSharedArrayBuffer: (): boolean => false,
  isArrayBufferView: (value: unknown): value is ArrayBufferView => ArrayBuffer.isView(value),
  isDataView: (value: unknown): boolean => ArrayBuffer.isView(value) && typedArrayName(value) === undefined,
  isTypedArray: (value: unknown): boolean => typedArrayName(value) !== undefined,
  isUint8Array: typed("Uint8Array"),
  isUint8ClampedArray: typed("Uint8ClampedArray"),
  isUint16Array: typed("Uint16Array"),
  isUint32Array: typed("Uint32Array"),
  isInt8Array: typed("Int8Array"),
  isInt16Array: typed("Int16Array"),
  isInt32Array: typed("Int32Array"),
  isFloat16Array: typed("Float16Array"),
  isFloat32Array: typed("Float32Array"),
  isFloat64Array: typed("Float64Array"),
  isBigInt64Array: typed("BigInt64Array"),
  isBigUint64Array: typed("BigUint64Array"),
  isNumberObject,
  isStringObject,
  isBooleanObject,
  isBigIntObject,
  isSymbolObject,
  isBoxedPrimitive: (value: unknown): boolean =>
    isNumberObject(value) || isStringObject(value) || isBooleanObject(value) || isBigIntObject(value) || isSymbolObject(value),
  isArgumentsObject: (value: unknown): boolean => isObject(value) && !(Symbol.toStringTag in value) && tagOf(value) === "Arguments",
  isAsyncFunction: (value: unknown): boolean => instance(AsyncFunction)(value) || instance(AsyncGeneratorFunction)(value),
  isGeneratorFunction: (value: unknown): boolean => instance(GeneratorFunction)(value) || instance(AsyncGeneratorFunction)(value),
  isGeneratorObject: (value: unknown): boolean => isObject(value) && ["Generator", "AsyncGenerator"].includes(tagOf(value)),
  isMapIterator: (value: unknown): boolean => isObject(value) && tagOf(value) === "Map Iterator",
  isSetIterator: (value: unknown): boolean => isObject(value) && tagOf(value) === "Set Iterator",
  isModuleNamespaceObject: (value: unknown): boolean =>
    isObject(value) && Object.getPrototypeOf(value) === null && tagOf(value) === "Module",
  isKeyObject: (value: unknown): boolean =>
    ["KeyObject", "SecretKeyObject", "PublicKeyObject", "PrivateKeyObject"].some((name) => named(name)(value)),
  isCryptoKey: named("CryptoKey"),
  isEventTarget: named("EventTarget"),
  isProxy: (): boolean => false,
  isExternal: (): boolean => false,
};

export default types;

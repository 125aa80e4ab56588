/** Variables that code in the sandbox has, besides those that it declares. A test compares them with those of an isolate. */
const names = `
  Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError
  EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array
  Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array Uint8ClampedArray Float32Array Float64Array DataView Map BigInt
  Set Iterator Temporal WeakMap WeakSet Proxy Reflect FinalizationRegistry WeakRef decodeURI decodeURIComponent encodeURI encodeURIComponent
  escape unescape eval isFinite isNaN console SuppressedError DisposableStack AsyncDisposableStack Float16Array SharedArrayBuffer gc setTimeout
  setInterval setImmediate clearTimeout clearInterval clearImmediate navigator queueMicrotask reportError AbortController AbortSignal atob
  btoa Blob File CompressionStream DecompressionStream Crypto crypto CryptoKey SubtleCrypto DOMException TextDecoder TextEncoder CustomEvent
  ErrorEvent Event EventTarget MessageEvent fetch FormData Headers MessageChannel MessagePort Performance performance PerformanceEntry
  Request Response ByteLengthQueuingStrategy CountQueuingStrategy ReadableByteStreamController ReadableStream ReadableStreamBYOBReader
  ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader TextDecoderStream TextEncoderStream TransformStream
  TransformStreamDefaultController WritableStream WritableStreamDefaultController WritableStreamDefaultWriter structuredClone URL
  URLSearchParams CloseEvent WebSocket defineComponent arguments
`;
/** Those of components that need the Node layer. */
const ofNode = "process global Buffer require module exports";

const globals: ReadonlySet<string> = new Set(`${names} ${ofNode}`.trim().split(/\s+/));

export const isSandboxGlobal = (name: string): boolean => globals.has(name) || name.startsWith("__");

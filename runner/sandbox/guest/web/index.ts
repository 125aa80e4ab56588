// The time origin is now, not the first use of `performance`.
import "./clock.ts";
import { defineGlobals, defineLazyGlobals } from "./define.ts";

// The bundler turns `require` of a file into a call of its wrapper: a module is evaluated when one of its globals is first read.
declare function require(path: string): Readonly<Record<string, unknown>>;

const resolved = Promise.resolve();

function queueMicrotask(callback: () => void): void {
  if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
  void resolved.then(() => {
    callback();
  });
}

/** Reported errors fail the run: they would be unnoticed otherwise. */
function reportError(error: unknown): void {
  void Promise.reject(error);
}

const navigator = Object.freeze({
  userAgent: "Headwater",
  language: "en-US",
  languages: Object.freeze(["en-US"]),
  platform: "linux",
  hardwareConcurrency: 1,
  onLine: true,
});

defineGlobals({ navigator, queueMicrotask, reportError });

defineLazyGlobals(() => require("./events/abort.ts"), ["AbortController", "AbortSignal"]);
defineLazyGlobals(() => require("./encoding/base64.ts"), ["atob", "btoa"]);
defineLazyGlobals(() => require("./fetch/blob.ts"), ["Blob", "File"]);
defineLazyGlobals(() => require("./streams/compression.ts"), ["CompressionStream", "DecompressionStream"]);
defineLazyGlobals(() => require("./crypto.ts"), ["Crypto", "crypto", "CryptoKey", "SubtleCrypto"]);
defineLazyGlobals(() => require("./events/dom-exception.ts"), ["DOMException"]);
defineLazyGlobals(() => require("./encoding/encoding.ts"), ["TextDecoder", "TextEncoder"]);
defineLazyGlobals(() => require("./events/event-target.ts"), ["CustomEvent", "ErrorEvent", "Event", "EventTarget", "MessageEvent"]);
defineLazyGlobals(() => require("./fetch/fetch.ts"), ["fetch"]);
defineLazyGlobals(() => require("./fetch/form-data.ts"), ["FormData"]);
defineLazyGlobals(() => require("./fetch/headers.ts"), ["Headers"]);
defineLazyGlobals(() => require("./events/message-channel.ts"), ["MessageChannel", "MessagePort"]);
defineLazyGlobals(() => require("./performance.ts"), ["Performance", "performance", "PerformanceEntry"]);
defineLazyGlobals(() => require("./fetch/request.ts"), ["Request"]);
defineLazyGlobals(() => require("./fetch/response.ts"), ["Response"]);
defineLazyGlobals(
  () => require("./streams/streams.ts"),
  [
    "ByteLengthQueuingStrategy",
    "CountQueuingStrategy",
    "ReadableByteStreamController",
    "ReadableStream",
    "ReadableStreamBYOBReader",
    "ReadableStreamBYOBRequest",
    "ReadableStreamDefaultController",
    "ReadableStreamDefaultReader",
    "TextDecoderStream",
    "TextEncoderStream",
    "TransformStream",
    "TransformStreamDefaultController",
    "WritableStream",
    "WritableStreamDefaultController",
    "WritableStreamDefaultWriter",
  ],
);
defineLazyGlobals(() => require("./structured-clone.ts"), ["structuredClone"]);
defineLazyGlobals(() => require("./url/url.ts"), ["URL", "URLSearchParams"]);
defineLazyGlobals(() => require("./websocket/websocket.ts"), ["CloseEvent", "WebSocket"]);

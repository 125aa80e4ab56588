import type * as streams from "./streams.ts";

declare function require(path: "./streams.ts"): typeof streams;

/** Streams are a quarter of the web layer, and most bodies and blobs never become one. */
export const lazyStreams = (): typeof streams => require("./streams.ts");

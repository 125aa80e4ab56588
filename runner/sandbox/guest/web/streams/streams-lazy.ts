import type * as streams from "./streams.ts";

declare function require(path: "./streams.ts"): typeof streams;

/** A quarter of the web layer, for something that most bodies and blobs never become. */
export const lazyStreams = (): typeof streams => require("./streams.ts");

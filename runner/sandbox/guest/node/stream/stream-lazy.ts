import type * as streams from "./stream.ts";

// `process` is made at once, and its streams hardly ever: loading them is put off until somebody writes to one.
declare function require(path: string): unknown;

export const Writable = (): typeof streams.Writable => (require("./stream.ts") as typeof streams).Writable;

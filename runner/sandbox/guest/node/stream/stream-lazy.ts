import type * as streams from "./stream.ts";

// `process` is created at once, but its streams are rarely used: they are loaded with the first write.
declare function require(path: string): unknown;

export const Writable = (): typeof streams.Writable => (require("./stream.ts") as typeof streams).Writable;

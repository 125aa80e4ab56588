import { on } from "./bridge.ts";

/**
 * `gc`, which V8 puts into every context under `--expose-gc`: V8 collects only while a heap grows, not while it is idle. Only the host
 * may use it. The name cannot be deleted, so user code reads `undefined`.
 */
const globals = globalThis as { gc?: ((how: object) => void) | undefined };
const { gc } = globals;
/** Like V8's collection under memory pressure, which keeps no spare capacity. */
const thoroughly = { __proto__: null, type: "major", flavor: "last-resort" };

if (gc !== undefined) globals.gc = undefined;

on("collect_garbage", () => gc?.(thoroughly));

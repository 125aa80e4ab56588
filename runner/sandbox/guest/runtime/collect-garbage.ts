import { on } from "./bridge.ts";

/**
 * `gc`, which V8 puts into every context under `--expose-gc`: V8 collects when a heap grows, and one at rest does not. Only the host
 * may use it. V8 lets nobody delete the name, so user code finds `undefined` there.
 */
const globals = globalThis as { gc?: ((how: object) => void) | undefined };
const { gc } = globals;
/** As V8 does when memory is low: it keeps no room for what might come. */
const thoroughly = { __proto__: null, type: "major", flavor: "last-resort" };

if (gc !== undefined) globals.gc = undefined;

on("collect_garbage", () => gc?.(thoroughly));

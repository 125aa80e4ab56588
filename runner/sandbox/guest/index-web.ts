/** The first script of every context: timers, console, web platform, runtime. */
import "./runtime/collect-garbage.ts";
import "./runtime/growing-buffers.ts";
import "./runtime/timers.ts";
import "./node/console/console.ts";
import "./web/index.ts";
import "./runtime.ts";
import { bind } from "./runtime/bridge.ts";

/** Components do not need threads, shared memory or WebAssembly, and each of them circumvents the time limit. */
const forbidden = ["WebAssembly"];

/** Packages read its prototype and create an empty instance when they load, to recognize instances. */
class SharedArrayBuffer {
  readonly #byteLength = 0;
  constructor(length: unknown = 0) {
    if (Number(length) !== 0) throw new TypeError("SharedArrayBuffer is not available to components: nothing shares memory here");
  }
  get byteLength(): number {
    return this.#byteLength;
  }
  get growable(): boolean {
    return this.#byteLength > 0;
  }
  get [Symbol.toStringTag](): string {
    return "SharedArrayBuffer";
  }
}

/** Without shared memory, `wait` and `notify` have no use; the rest only computes. It stays defined since packages copy all globals. */
const atomics = ["add", "and", "compareExchange", "exchange", "isLockFree", "load", "or", "store", "sub", "xor"] as const;

/** Finalization callbacks would run after the run, without limits: registering does nothing. */
class FinalizationRegistry {
  register(): void {}
  unregister(): boolean {
    return false;
  }
}

function withoutThreads(all: typeof Atomics): object {
  const kept = Object.fromEntries(atomics.map((name) => [name, all[name]]));
  return Object.defineProperty(kept, Symbol.toStringTag, { value: "Atomics", configurable: true });
}

type Bind = typeof bind;
const globals = globalThis as unknown as { __bind?: Bind };

/** The host calls this once all scripts are loaded; afterwards no global of the sandbox is reachable. */
Object.defineProperty(globals, "__bind", {
  configurable: true,
  value: ((callback) => {
    for (const name of forbidden) Reflect.deleteProperty(globals, name);
    Object.defineProperty(globals, "SharedArrayBuffer", { value: SharedArrayBuffer, writable: true, configurable: true });
    Object.defineProperty(globals, "Atomics", { value: withoutThreads(Atomics), writable: true, configurable: true });
    Object.defineProperty(globals, "FinalizationRegistry", {
      value: FinalizationRegistry,
      writable: true,
      configurable: true,
    });
    Reflect.deleteProperty(globals, "__shared");
    Reflect.deleteProperty(globals, "__bind");
    return bind(callback);
  }) satisfies Bind,
});

/** The first script of every context: timers, console, web platform, runtime. */
import "./runtime/collect-garbage.ts";
import "./runtime/timers.ts";
import "./runtime/console.ts";
import "./web/index.ts";
import "./runtime/runtime.ts";
import { bind } from "./runtime/bridge.ts";

/** Threads, shared memory and machine code serve no component, and each is a way round the time limit. */
const forbidden = ["WebAssembly"];

/** Packages look at its prototype when they load, and make an empty one, so as to tell instances from other things. */
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

/** On memory that nobody shares these compute and no more; what waits and wakes is for threads. Packages copy all globals, this one too. */
const atomics = ["add", "and", "compareExchange", "exchange", "isLockFree", "load", "or", "store", "sub", "xor"] as const;

/** Callbacks of the collector run after the run, where no limit counts: registering does nothing. */
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

/** Called by the host when all scripts are loaded; nothing of the sandbox stays reachable by name. */
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

import fs from "node:fs";

/**
 * Isolates have no WebAssembly. Many packages compile a module of it when they are loaded, and use it in one function of many: with this,
 * they load, and fail where they compute with it.
 */
const reason = "WebAssembly is not available in the sandbox, and this part of the package computes with it";

function unavailable(): never {
  throw new Error(reason);
}

/** Whatever is called of it fails; whatever is read of it is the same again. */
const absent: object = new Proxy(unavailable, {
  get: (_target, name) => (name === "then" || typeof name === "symbol" ? undefined : absent),
  apply: unavailable,
});

class Module {}
class Instance {
  readonly exports = absent;
}

const root = globalThis as unknown as Record<string, unknown>;
root["WebAssembly"] ??= {
  Module,
  Instance,
  Memory: class {
    readonly buffer = new ArrayBuffer(0);
  },
  Table: class {},
  CompileError: class extends Error {},
  LinkError: class extends Error {},
  RuntimeError: class extends Error {},
  validate: () => false,
  // Packages that compile it later have a way without it, or fail where they wait for it.
  compile: () => Promise.reject(new Error(reason)),
  instantiate: () => Promise.reject(new Error(reason)),
};

// Their files are not in the bundle. As no module of them is compiled, an empty one does.
const { readFileSync } = fs;
fs.readFileSync = ((path: unknown, ...options: readonly never[]) =>
  typeof path === "string" && path.endsWith(".wasm") && !fs.existsSync(path)
    ? Buffer.alloc(0)
    : Reflect.apply(readFileSync, fs, [path, ...options])) as typeof readFileSync; // It takes what that takes.

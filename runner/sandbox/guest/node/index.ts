import { nodeError } from "./errors.ts";
import { guest } from "./globals.ts";
import { createModule } from "./module.ts";
import process from "./process/process.ts";

// The bundler turns `require` of a file into a call of its wrapper: a module is evaluated when a bundle first asks for it.
declare function require(path: string): { readonly default: unknown; readonly [name: string]: unknown };
type Stubs = Record<string, () => object>;

const stub = (name: string) => (): unknown => (require("./stubs.ts") as unknown as Stubs)[name]?.();
const member = (module: string, name: string) => (): unknown => (builtin(module) as Record<string, unknown>)[name];

// Decision 0145 has what packages in place of assert, inspect, path, querystring, string_decoder and url were measured to cost.
const loaders: Readonly<Record<string, () => unknown>> = Object.assign(Object.create(null) as object, {
  assert: () => require("./assert/assert.ts").default,
  "assert/strict": member("assert", "strict"),
  async_hooks: () => require("./events/async-hooks.ts").default,
  buffer: () => require("./buffer/buffer.ts").default,
  child_process: stub("childProcess"),
  cluster: stub("cluster"),
  console: () => Object.assign(Object.create(guest.console) as object, { Console: createConsole, console: guest.console }),
  constants: () => ({
    ...(builtin("os") as { constants: { errno: object; signals: object } }).constants.errno,
    ...(builtin("fs") as { constants: object }).constants,
    ...(builtin("crypto") as { constants: object }).constants,
  }),
  crypto: () => require("./crypto/index.ts").default,
  dgram: stub("dgram"),
  diagnostics_channel: () => require("./events/diagnostics-channel.ts").default,
  dns: () => require("./net/dns.ts").default,
  "dns/promises": member("dns", "promises"),
  domain: stub("domain"),
  events: () => require("./events/events.ts").default,
  ffi: stub("ffi"),
  fs: () => require("./fs/index.ts").default,
  "fs/promises": member("fs", "promises"),
  http: () => require("./http/http.ts").default,
  http2: stub("http2"),
  https: () => require("./http/https.ts").default,
  inspector: stub("inspectorModule"),
  "inspector/promises": stub("inspectorModule"),
  module: () => createModule(Object.keys(loaders), builtin),
  net: () => require("./net/net.ts").default,
  os: () => require("./process/os.ts").default,
  path: () => require("./path/path.ts").default,
  "path/posix": member("path", "posix"),
  "path/win32": member("path", "win32"),
  perf_hooks: () => require("./process/perf-hooks.ts").default,
  process: () => process,
  punycode: () => require("./url/punycode.ts").default,
  querystring: () => require("./url/querystring.ts").default,
  readline: () => require("./readline.ts").default,
  "readline/promises": member("readline", "promises"),
  repl: stub("repl"),
  sea: stub("sea"),
  sqlite: stub("sqlite"),
  stream: () => Object.assign(require("./stream/stream.ts").default as object, {}),
  "stream/consumers": () => require("./stream/stream-consumers.ts").default,
  "stream/promises": () => require("./stream/stream-promises.ts").default,
  "stream/web": webStreams,
  string_decoder: () => require("./stream/string-decoder.ts").default,
  sys: () => builtin("util"),
  test: stub("test"),
  "test/reporters": stub("test"),
  timers: () => require("./timers/timers.ts").default,
  "timers/promises": () => require("./timers/timers-promises.ts").default,
  tls: () => require("./net/tls.ts").default,
  trace_events: stub("traceEvents"),
  tty: stub("tty"),
  url: () => require("./url/url.ts").default,
  util: () => require("./util/util.ts").default,
  "util/types": member("util", "types"),
  v8: stub("v8"),
  vm: () => require("./vm/vm.ts").default,
  wasi: stub("wasi"),
  worker_threads: stub("workerThreads"),
  zlib: () => require("./zlib/zlib.ts").default,
});

const loaded = new Map<string, unknown>();

/** A built-in module by name, as `require` names them; loaded at the first request. */
function builtin(given: string): unknown {
  const name = String(given)
    .replace(/^node:/, "")
    .replace(/\/$/, "");
  if (loaded.has(name)) return loaded.get(name);
  const load = loaders[name];
  if (load === undefined) {
    throw nodeError("MODULE_NOT_FOUND", `Cannot find module '${given}': Node has no such module, or it is not available to components`);
  }
  const module = load();
  loaded.set(name, module);
  return module;
}

function webStreams(): object {
  const names = Object.getOwnPropertyNames(globalThis).filter((name) =>
    /^(Readable|Writable|Transform|ByteLength|Count|TextEncoder|TextDecoder|Compression|Decompression)\w*(Stream|Strategy|Reader|Writer|Controller|Request)\w*$/.test(
      name,
    ),
  );
  return Object.fromEntries(names.map((name) => [name, guest[name]]));
}

// A Console on streams of its own still writes to the log of the run.
function createConsole(): object {
  return Object.create(guest.console) as object;
}

function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

defineGlobal("__builtin", builtin);
defineGlobal("process", process);
defineGlobal("global", globalThis);
// Buffer takes half of the layer's load time, and many bundles only mention it.
Object.defineProperty(globalThis, "Buffer", {
  configurable: true,
  enumerable: false,
  get: () => {
    const { Buffer } = builtin("buffer") as { Buffer: unknown };
    defineGlobal("Buffer", Buffer);
    return Buffer;
  },
  set: (value: unknown) => defineGlobal("Buffer", value),
});

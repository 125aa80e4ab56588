import EventEmitter from "./events/events.ts";
import { refused, unsupported, unsupportedClass, unsupportedModule } from "./errors.ts";
import { guest } from "./globals.ts";

// Modules that an isolate cannot offer. They load, because packages import them in advance, and throw when used.

const process = "a component is one program; start nothing else, or call a service over HTTP";
const ffiTypes = ["Int8", "Uint8", "Int16", "Uint16", "Int32", "Uint32", "Int64", "Uint64", "Float32", "Float64"];
const ffiFunctions = [
  ...["dlopen", "dlclose", "dlsym", "exportArrayBuffer", "exportArrayBufferView", "exportString", "exportBuffer"],
  ...["getCurrentEventLoop", "getRawPointer", "toString", "toArrayBuffer", "toBuffer"],
  ...ffiTypes.flatMap((type) => [`get${type}`, `set${type}`]),
];
const inspector = "read the logs of the run";
const native = "native code cannot be loaded";
const listening = "a component cannot listen; use an HTTP trigger";

export const childProcess = (): object => ({
  ...unsupportedModule("child_process", ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"], process),
  ChildProcess: unsupportedClass("child_process.ChildProcess", process),
});

export const workerThreads = (): object => ({
  ...unsupportedModule("worker_threads", ["moveMessagePortToContext", "receiveMessageOnPort", "postMessageToThread"], process),
  Worker: unsupportedClass("worker_threads.Worker", process),
  isMainThread: true,
  threadId: 0,
  parentPort: null,
  workerData: null,
  resourceLimits: {},
  SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"),
  MessageChannel: guest["MessageChannel"],
  MessagePort: guest["MessagePort"],
  BroadcastChannel: guest["BroadcastChannel"],
  markAsUntransferable: () => {},
  markAsUncloneable: () => {},
  isMarkedAsUntransferable: () => false,
  getEnvironmentData: () => undefined,
  setEnvironmentData: () => {},
});

export const cluster = (): object =>
  Object.assign(new EventEmitter(), unsupportedModule("cluster", ["fork", "setupPrimary", "setupMaster", "disconnect"], process), {
    isMaster: true,
    isPrimary: true,
    isWorker: false,
    workers: {},
    settings: {},
  });

export const v8 = (): object => ({
  ...unsupportedModule(
    "v8",
    ["serialize", "deserialize", "getHeapSnapshot", "writeHeapSnapshot", "setFlagsFromString", "takeCoverage", "startupSnapshot"],
    "use structuredClone or JSON",
  ),
  getHeapStatistics: () => ({
    total_heap_size: 33_554_432,
    used_heap_size: 16_777_216,
    heap_size_limit: 134_217_728,
    total_available_size: 100_663_296,
    total_physical_size: 33_554_432,
    malloced_memory: 0,
    peak_malloced_memory: 0,
  }),
  getHeapSpaceStatistics: () => [],
  cachedDataVersionTag: () => 0,
});

export const inspectorModule = (): object => ({
  ...unsupportedModule("inspector", ["open", "close", "waitForDebugger"], inspector),
  url: () => undefined,
  console: guest.console,
  Session: unsupportedClass("inspector.Session", inspector),
});
export const repl = (): object => unsupportedModule("repl", ["start"], inspector);
export const dgram = (): object => ({
  ...unsupportedModule("dgram", ["createSocket"], "only TCP leaves the sandbox: use net, tls or fetch"),
  Socket: unsupportedClass("dgram.Socket", "use net, tls or fetch"),
});

export const http2 = (): object => ({
  ...unsupportedModule("http2", ["createServer", "createSecureServer"], listening),
  ...unsupportedModule("http2", ["connect"], "use fetch or node:https, which speak HTTP/1.1"),
  constants: new Proxy({}, { get: (_target, name) => (typeof name === "string" ? headerConstant(name) : undefined) }),
  getDefaultSettings: () => ({}),
  sensitiveHeaders: Symbol("nodejs.http2.sensitiveHeaders"),
});

// Clients use these constants as header names without opening an HTTP/2 connection.
function headerConstant(name: string): string | number {
  if (name.startsWith("HTTP2_METHOD_")) return name.slice(13).replaceAll("_", "-");
  if (name.startsWith("HTTP_STATUS_")) return 0;
  if (!name.startsWith("HTTP2_HEADER_")) return 0;
  const header = name.slice(13).toLowerCase().replaceAll("_", "-");
  return ["method", "path", "scheme", "authority", "status", "protocol"].includes(header) ? `:${header}` : header;
}

export const tty = (): object => ({
  isatty: () => false,
  ReadStream: unsupportedClass("tty.ReadStream", "there is no terminal"),
  WriteStream: unsupportedClass("tty.WriteStream", "there is no terminal"),
});
export const ffi = (): object => ({
  DynamicLibrary: unsupportedClass("ffi.DynamicLibrary", native),
  ...unsupportedModule("ffi", ffiFunctions, native),
  suffix: "so",
  types: {},
});
export const sqlite = (): object => ({
  DatabaseSync: unsupportedClass("sqlite.DatabaseSync", "keep state with this.db, or use a database over the network"),
  StatementSync: unsupportedClass("sqlite.StatementSync", "keep state with this.db"),
  constants: {},
});
export const test = (): object =>
  Object.assign(
    refused(() => {
      throw unsupported("node:test", "tests run outside of the sandbox");
    }, "tests run outside of the sandbox"),
    unsupportedModule(
      "test",
      ["describe", "it", "test", "suite", "before", "after", "beforeEach", "afterEach", "mock"],
      "tests run outside of the sandbox",
    ),
  );
export const wasi = (): object => ({ WASI: unsupportedClass("wasi.WASI", "WebAssembly is not available") });
export const domain = (): object => ({
  ...unsupportedModule("domain", ["create", "createDomain"], "catch errors where they happen"),
  active: null,
});
export const traceEvents = (): object => ({
  ...unsupportedModule("trace_events", ["createTracing"], inspector),
  getEnabledCategories: () => undefined,
});
export const sea = (): object => ({
  isSea: () => false,
  ...unsupportedModule("sea", ["getAsset", "getAssetAsBlob", "getRawAsset"], "there are no assets"),
});

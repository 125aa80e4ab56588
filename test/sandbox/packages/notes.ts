interface Note {
  /** What a comparison of names does not show. */
  readonly differs?: string;
  /** What it is for cannot be had, though some constants and checks are there. */
  readonly refused?: true;
}

/** What docs/compatibility.md says of built-in modules besides what is missing. */
export const notes: Readonly<Record<string, Note>> = {
  async_hooks: {
    differs:
      "`AsyncLocalStorage` follows one asynchronous `run` at a time; of runs that overlap, all see the latest store. Hooks are never called",
  },
  child_process: { refused: true },
  cluster: { refused: true },
  console: { differs: "writes to the log of the run" },
  crypto: { differs: "sizes and rounds have limits; synchronous work may take a quarter of the time" },
  dgram: { refused: true },
  dns: { differs: "by the egress policy: private addresses are not returned" },
  domain: { refused: true },
  fs: { differs: "`/tmp` alone: of a source 64 MB in memory, gone with the isolate; of a step the files of its run" },
  "fs/promises": { differs: "as `fs`" },
  http: { differs: "a client; bodies of requests are collected, to 10 MB, and sent when they are whole" },
  ffi: { refused: true },
  http2: { refused: true },
  https: { differs: "as `http`" },
  inspector: { refused: true },
  "inspector/promises": { refused: true },
  module: { differs: "`createRequire` reaches built-in modules; everything else is in the bundle" },
  net: { differs: "a client" },
  perf_hooks: { differs: "times in whole milliseconds" },
  process: { differs: "one's own: no signals, no environment but `PD_COMPONENT`" },
  repl: { refused: true },
  sea: { refused: true },
  sqlite: { refused: true },
  test: { refused: true },
  "test/reporters": { refused: true },
  tls: { differs: "a client; the host checks certificates" },
  trace_events: { refused: true },
  tty: { refused: true },
  v8: { refused: true },
  vm: {
    differs:
      "a context is an object whose members the code sees as global variables: it keeps names apart, not code, and shares Array, Object and the rest with yours; `timeout` and caches are ignored",
  },
  wasi: { refused: true },
  worker_threads: { refused: true },
};

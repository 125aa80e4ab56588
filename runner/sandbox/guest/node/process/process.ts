import { sinceStart } from "../../web/clock.ts";
import EventEmitter from "../events/events.ts";
import { unsupported, unsupportedFunction } from "../errors.ts";
import { guest } from "../globals.ts";
import { nextTick } from "../timers/next-tick.ts";
import { Writable } from "../stream/stream-lazy.ts";
import { memoryUsage } from "./memory-usage.ts";

const started = sinceStart();
const elapsedNs = (): bigint => BigInt(Math.round((sinceStart() - started) * 1e6));

function hrtime(previous?: readonly [number, number]): [number, number] {
  const now = elapsedNs();
  const [seconds, nanoseconds] = [Number(now / 1_000_000_000n), Number(now % 1_000_000_000n)];
  if (previous === undefined) return [seconds, nanoseconds];
  const rest = nanoseconds - previous[1];
  return rest < 0 ? [seconds - previous[0] - 1, rest + 1e9] : [seconds - previous[0], rest];
}
hrtime.bigint = elapsedNs;

function emitWarning(warning: unknown, type: unknown = "Warning", code?: unknown): void {
  const options = typeof type === "object" && type !== null ? (type as { type?: string; code?: string }) : { type: String(type), code };
  const name = warning instanceof Error ? warning.name : (options.type ?? "Warning");
  const message = warning instanceof Error ? warning.message : String(warning);
  guest.console.warn(`${options.code === undefined ? "" : `[${String(options.code)}] `}${name}: ${message}`);
}

function exit(code?: number): never {
  throw Object.assign(new Error(`process.exit(${code ?? ""}) was called: a component ends by returning from run`), {
    code: "ERR_PROCESS_EXIT",
  });
}

const nothing = (): void => {};

/** `process` without signals and ids; its environment is what the host sets. */
class Process extends EventEmitter {
  title = "node";
  version = "v26.12.1";
  versions = {
    node: "26.12.1",
    v8: "14.6.202.34-node.40",
    modules: "147",
    openssl: "3.5.9",
    uv: "1.52.1",
    zlib: "1.3.2",
  };
  arch = "x64";
  platform = "linux";
  release = { name: "node" };
  env: Record<string, string | undefined> = {};
  argv = ["/usr/bin/node", "/component"];
  argv0 = "node";
  execArgv: string[] = [];
  execPath = "/usr/bin/node";
  pid = 1;
  ppid = 0;
  exitCode: number | undefined = undefined;
  features = { inspector: false, ipv6: true, tls: true, typescript: false };
  config = { target_defaults: {}, variables: {} };
  allowedNodeEnvironmentFlags = new Set<string>();
  debugPort = 9229;
  connected = false;
  noDeprecation = false;
  throwDeprecation = false;
  sourceMapsEnabled = false;
  report = undefined;
  stdin = {
    isTTY: false,
    fd: 0,
    on: (): object => this.stdin,
    once: (): object => this.stdin,
    resume: nothing,
    pause: nothing,
    setEncoding: nothing,
    unref: nothing,
    destroy: nothing,
  };
  hrtime = hrtime;
  nextTick = nextTick;
  emitWarning = emitWarning;
  exit = exit;
  reallyExit = exit;
  memoryUsage = memoryUsage;
  binding = unsupportedFunction("process", "binding", "use the public modules");
  dlopen = unsupportedFunction("process", "dlopen", "native addons cannot be loaded");
  kill = unsupportedFunction("process", "kill", "there are no other processes");
  abort = (): never => exit(134);
  cwd = (): string => "/tmp";
  umask = (): number => 0o022;
  uptime = (): number => (sinceStart() - started) / 1000;
  cpuUsage = (): object => ({ user: Math.round((sinceStart() - started) * 1000), system: 0 });
  resourceUsage = (): object => ({ userCPUTime: 0, systemCPUTime: 0, maxRSS: 0 });
  constrainedMemory = (): number => 134_217_728;
  availableMemory = (): number => 67_108_864;
  getActiveResourcesInfo = (): string[] => [];
  getuid = (): number => 1000;
  geteuid = (): number => 1000;
  getgid = (): number => 1000;
  getegid = (): number => 1000;
  getgroups = (): number[] => [1000];
  setUncaughtExceptionCaptureCallback = nothing;
  hasUncaughtExceptionCaptureCallback = (): boolean => false;
  setSourceMapsEnabled = nothing;
  ref = nothing;
  unref = nothing;
  chdir(directory: string): void {
    if (directory !== "/tmp") throw unsupported("process.chdir", "the working directory is /tmp");
  }
  getBuiltinModule(name: string): unknown {
    try {
      return (guest["__builtin"] as (name: string) => unknown)(name);
    } catch {
      return undefined;
    }
  }
}

// Axios and others recognize Node by `[object process]`.
Object.defineProperty(Process.prototype, Symbol.toStringTag, { value: "process", configurable: true });

const process = new Process();

/** Writes whole lines to the log; an incomplete line waits for more data or the stream's end. */
function output(fd: number, log: (text: string) => void): unknown {
  let rest = "";
  const stream = new (Writable())({
    decodeStrings: false,
    write(chunk: unknown, _encoding: string, callback: (error?: Error | null) => void) {
      const text = rest + String(chunk);
      const cut = text.lastIndexOf("\n");
      // Progress dots have no newline: an incomplete line is written with the next tick.
      if (cut !== -1) log(text.slice(0, cut));
      rest = text.slice(cut + 1);
      if (rest !== "")
        nextTick(() => {
          if (rest === "") return;
          log(rest);
          rest = "";
        });
      callback();
    },
  });
  return Object.assign(stream, {
    fd,
    isTTY: false,
    columns: 80,
    rows: 24,
    _type: "pipe",
    getWindowSize: () => [80, 24],
    hasColors: () => false,
    getColorDepth: () => 1,
    clearLine: nothing,
    cursorTo: nothing,
  });
}

for (const [name, fd] of [
  ["stdout", 1],
  ["stderr", 2],
] as const) {
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      const stream = output(fd, (text) => guest.console[fd === 1 ? "log" : "error"](text));
      Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true, writable: true });
      return stream;
    },
  });
}

export default process;

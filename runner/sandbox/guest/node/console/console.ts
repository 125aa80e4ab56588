import { onRunEnd, post } from "../../runtime/bridge.ts";
import type * as consoleTable from "./console-table.ts";
import { formatWithOptions } from "../inspect/format.ts";
import { inspect, type InspectOptions } from "../inspect/inspect.ts";

// Loaded with the first table.
declare function require(path: "./console-table.ts"): typeof consoleTable;

/** `console` of components: each call is one record of the source's log, `k` = `console.<method>`, its text as Node prints it. */
const { apply } = Reflect;
const now = Date.now;
const slice = String.prototype.slice;
const maxLine = 16 * 1024;
/** Maximum properties shown: log lines are bounded. */
const options: InspectOptions = { maxProperties: 2_000 };
const indent = "  ";

const counts = new Map<string, number>();
const started = new Map<string, number>();
/** Indentation of the open groups. */
let indentation = "";

// Groups left open by a run do not affect the next run.
onRunEnd(() => {
  indentation = "";
  counts.clear();
  started.clear();
});

function write(method: string, text: string): void {
  const cut = apply(slice, text, [0, maxLine + 1]) as string;
  const line = indentation === "" ? cut : indentation + cut.replaceAll("\n", `\n${indentation}`);
  post("log", `console.${method}`, apply(slice, line, [0, maxLine + 1]) as string, now());
}

function record(method: string, args: readonly unknown[]): void {
  write(
    method,
    attempt(() => formatWithOptions(options, ...args)),
  );
}

/** A value that cannot be shown (a getter or proxy that throws) must not fail the run that logs it. */
function attempt(show: () => string): string {
  try {
    return show();
  } catch (error) {
    return `[a value that cannot be shown: ${String(error)}]`;
  }
}

const writer =
  (method: string) =>
  (...args: unknown[]): void =>
    record(method, args);

function group(...label: unknown[]): void {
  if (label.length > 0) record("log", label);
  if (indentation.length < 100) indentation += indent;
}

/** As Node writes durations: `5.2ms`, `1.234s`, `1:02.345 (m:ss.mmm)`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const seconds = (ms % 60_000) / 1_000;
  if (ms < 60_000) return `${seconds.toFixed(3)}s`;
  const minutes = Math.floor(ms / 60_000) % 60;
  const text = `${String(minutes)}:${seconds.toFixed(3).padStart(6, "0")}`;
  const hours = Math.floor(ms / 3_600_000);
  return hours === 0 ? `${text} (m:ss.mmm)` : `${hours}:${text.padStart(9, "0")} (h:mm:ss.mmm)`;
}

function tellTime(method: string, label: string, args: readonly unknown[]): void {
  const since = started.get(label);
  if (since === undefined) return record("warn", [`No such label '${label}' for console.${method}()`]);
  record("log", [`${label}: ${duration(now() - since)}`, ...args]);
}

function trace(...args: unknown[]): void {
  const stack = (new Error("trace").stack ?? "").split("\n").filter((line) => line.startsWith("    at ") && !line.includes("sandbox:"));
  const message = attempt(() => formatWithOptions(options, ...args));
  write("trace", [message === "" ? "Trace" : `Trace: ${message}`, ...stack].join("\n"));
}

const guestConsole = {
  log: writer("log"),
  info: writer("info"),
  warn: writer("warn"),
  error: writer("error"),
  debug: writer("debug"),
  trace,
  dir: (value: unknown, given?: InspectOptions): void =>
    write(
      "log",
      attempt(() => inspect(value, { ...options, customInspect: false, ...given })),
    ),
  dirxml: writer("log"),
  table: (data: unknown, columns?: unknown): void =>
    write(
      "log",
      attempt(() => require("./console-table.ts").drawTable(data, columns) ?? formatWithOptions(options, data)),
    ),
  group,
  groupCollapsed: group,
  groupEnd: (): void => {
    indentation = indentation.slice(indent.length);
  },
  clear: (): void => {},
  assert: (condition: unknown, ...args: unknown[]): void => {
    if (condition) return;
    const [first, ...rest] = args;
    record("warn", typeof first === "string" ? [`Assertion failed: ${first}`, ...rest] : ["Assertion failed", ...args]);
  },
  count: (label: unknown = "default"): void => {
    const name = String(label);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    record("log", [`${name}: ${count}`]);
  },
  countReset: (label: unknown = "default"): void => {
    if (!counts.delete(String(label))) record("warn", [`Count for '${String(label)}' does not exist`]);
  },
  time: (label: unknown = "default"): void => {
    const name = String(label);
    if (started.has(name)) return record("warn", [`Label '${name}' already exists for console.time()`]);
    started.set(name, now());
  },
  timeLog: (label: unknown = "default", ...args: unknown[]): void => tellTime("timeLog", String(label), args),
  timeEnd: (label: unknown = "default"): void => {
    tellTime("timeEnd", String(label), []);
    started.delete(String(label));
  },
};

Object.defineProperty(globalThis, "console", { value: guestConsole, writable: true, configurable: true });

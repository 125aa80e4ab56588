import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readProc, statFieldsOf, tickMs } from "../../scripts/proc.ts";

/** What a process is for: a role, `sandbox`, `nats-server`, `postgres` … */
export type Part = string;

export interface ProcessUse {
  readonly pid: number;
  readonly part: Part;
  /** CPU time since its start, ms. */
  readonly cpuMs: number;
}

export interface FoundProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes below and including the roots. */
export function processTree(roots: readonly number[]): readonly number[] {
  const children = Map.groupBy(allPids(), (pid) => Number(statFieldsOf(pid)[1]));
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return [...new Set(roots.flatMap(below))].filter((pid) => readProc(`${pid}/stat`) !== "");
}

/** Processes that use a data directory, by command line, environment or working directory. Includes orphans. */
export function processesOf(dataDirectory: string): readonly FoundProcess[] {
  return allPids().flatMap((pid) => {
    const [command, environment, directory] = [readProc(`${pid}/cmdline`), readProc(`${pid}/environ`), linkOf(`/proc/${pid}/cwd`)];
    if (pid === process.pid || ![command, environment, directory].some((text) => text.includes(dataDirectory))) return [];
    const [state, parent] = statFieldsOf(pid);
    return state === "Z" ? [] : [{ pid, parent: Number(parent), command: command.replaceAll("\0", " ").slice(0, 200) }];
  });
}

/** Process id of main.ts, which holds the data directory; not of its launcher. */
export function mainOf(dataDirectory: string): number {
  const lock: unknown = JSON.parse(readFileSync(`${dataDirectory}/lock`, "utf8"));
  if (typeof lock === "object" && lock !== null && "pid" in lock && typeof lock.pid === "number") return lock.pid;
  throw new Error(`no process holds ${dataDirectory}`);
}

/** CPU time of a process since its start, in ms, threads that have ended included; undefined if it has ended. */
export function cpuMsOfProcess(pid: number): number | undefined {
  const fields = statFieldsOf(pid);
  return fields.length < 13 ? undefined : (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** CPU time of each process of the tree. */
export const cpuOf = (roots: readonly number[]): readonly ProcessUse[] =>
  processTree(roots).map((pid) => ({ pid, part: partOf(pid), cpuMs: cpuMsOfProcess(pid) ?? 0 }));

/** CPU-ms by part between two looks; processes that began in between count from their beginning. */
export function cpuBetween(before: readonly ProcessUse[], after: readonly ProcessUse[]): ReadonlyMap<Part, number> {
  const earlier = new Map(before.map(({ pid, cpuMs }) => [pid, cpuMs]));
  const byPart = new Map<Part, number>();
  for (const { pid, part, cpuMs } of after) byPart.set(part, (byPart.get(part) ?? 0) + cpuMs - (earlier.get(pid) ?? 0));
  return byPart;
}

/** Proportional set size in bytes by part: shared memory counts once over all. */
export function memoryOf(roots: readonly number[]): ReadonlyMap<Part, number> {
  const byPart = new Map<Part, number>();
  for (const pid of processTree(roots)) {
    const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(readProc(`${pid}/smaps_rollup`))?.[1] ?? 0);
    byPart.set(partOf(pid), (byPart.get(partOf(pid)) ?? 0) + kilobytes * 1024);
  }
  return byPart;
}

/** Resident set of one process now, and its maximum so far, bytes. */
export function residentSetOf(pid: number): { readonly now: number; readonly max: number } {
  const status = readProc(`${pid}/status`);
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1_024;
  return { now: bytes("VmRSS"), max: bytes("VmHWM") };
}

export const total = (byPart: ReadonlyMap<Part, number>): number => [...byPart.values()].reduce((sum, value) => sum + value, 0);

/** `runner 0.12, nats-server 0.40` in descending order, each divided by `by`. */
export function formatParts(byPart: ReadonlyMap<Part, number>, by: number, digits = 3): string {
  const sorted = [...byPart].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([part, value]) => `${part} ${(value / by).toFixed(digits)}`).join(", ");
}

export function partOf(pid: number): Part {
  const command = readProc(`${pid}/cmdline`).split("\0");
  const [program = ""] = command;
  if (program.includes("nats-server")) return "nats-server";
  if (program.includes("postgres")) return "postgres";
  if (command.some((argument) => argument.endsWith("sandbox-child.mjs"))) return "sandbox";
  if (command.some((argument) => argument.endsWith("launch.mjs"))) return "launcher";
  if (program.includes("esbuild")) return "esbuild";
  const roles = /(?:^|\0)HEADWATER_ROLES=([^\0]*)/.exec(readProc(`${pid}/environ`))?.[1];
  if (!command.some((argument) => argument.endsWith("main.ts"))) return "other";
  return roles === undefined || roles.includes(",") || roles === "all" ? "host" : roles;
}

const allPids = (): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

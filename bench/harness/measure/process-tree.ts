import { readdirSync, readFileSync } from "node:fs";

/** What a process is for: a role, `sandbox`, `nats-server`, `postgres` … */
export type Part = string;

export interface ProcessUse {
  readonly pid: number;
  readonly part: Part;
  /** CPU time since its start, ms. */
  readonly cpuMs: number;
}

/** The processes below and including the roots, as the kernel knows them now. Linux only. */
export function processTree(roots: readonly number[]): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    // Field 4 of proc(5), counted after the command's name, which may hold spaces and parentheses.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return [...new Set(roots.flatMap(below))].filter((pid) => read(`/proc/${pid}/stat`) !== "");
}

/** CPU time of each process, from the scheduler's own account (nanoseconds; no ticks). Threads that have ended are not counted. */
export function cpuOf(roots: readonly number[]): readonly ProcessUse[] {
  return processTree(roots).map((pid) => ({ pid, part: partOf(pid), cpuMs: cpuMsOf(pid) }));
}

/** CPU-ms by part between two looks; processes that began in between count from their beginning. */
export function cpuBetween(before: readonly ProcessUse[], after: readonly ProcessUse[]): ReadonlyMap<Part, number> {
  const earlier = new Map(before.map(({ pid, cpuMs }) => [pid, cpuMs]));
  const byPart = new Map<Part, number>();
  for (const { pid, part, cpuMs } of after) byPart.set(part, (byPart.get(part) ?? 0) + cpuMs - (earlier.get(pid) ?? 0));
  return byPart;
}

/** Proportional set size in bytes by part: what is shared counts once over all. */
export function memoryOf(roots: readonly number[]): ReadonlyMap<Part, number> {
  const byPart = new Map<Part, number>();
  for (const pid of processTree(roots)) {
    const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
    byPart.set(partOf(pid), (byPart.get(partOf(pid)) ?? 0) + kilobytes * 1024);
  }
  return byPart;
}

export const total = (byPart: ReadonlyMap<Part, number>): number => [...byPart.values()].reduce((sum, value) => sum + value, 0);

/** `runner 0.12, nats-server 0.40` in descending order, each divided by `by`. */
export function formatParts(byPart: ReadonlyMap<Part, number>, by: number, digits = 3): string {
  const sorted = [...byPart].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([part, value]) => `${part} ${(value / by).toFixed(digits)}`).join(", ");
}

export function partOf(pid: number): Part {
  const command = read(`/proc/${pid}/cmdline`).split("\0");
  const [program = ""] = command;
  if (program.includes("nats-server")) return "nats-server";
  if (program.includes("postgres")) return "postgres";
  if (command.some((argument) => argument.endsWith("sandbox-child.mjs"))) return "sandbox";
  if (command.some((argument) => argument.endsWith("launch.mjs"))) return "launcher";
  if (program.includes("esbuild")) return "esbuild";
  const roles = /(?:^|\0)HEADWATER_ROLES=([^\0]*)/.exec(read(`/proc/${pid}/environ`))?.[1];
  if (!command.some((argument) => argument.endsWith("main.ts"))) return "other";
  return roles === undefined || roles.includes(",") || roles === "all" ? "host" : roles;
}

function cpuMsOf(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return tasks.reduce((sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0] ?? 0) / 1e6, 0);
  } catch {
    return 0; // It has ended.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

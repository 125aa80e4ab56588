import { readFileSync } from "node:fs";
import { afterAll, beforeAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Id of the process that ran the file, for the order of its files. */
    workerId?: number;
    /** CPU time of the file, in ms, with that of the child processes that it ended. */
    cpuMs?: number;
  }
}

let before = 0;

beforeAll(() => {
  before = cpuMs();
});

// oxlint-disable-next-line no-empty-pattern -- vitest accepts no other first argument
afterAll(({}, file) => {
  Object.assign(file.meta, { workerId: process.pid, cpuMs: cpuMs() - before });
});

/** CPU time of this process and of its ended children, in ms. Without /proc, that of the children is missing. */
function cpuMs(): number {
  const own = process.cpuUsage();
  return (own.user + own.system) / 1_000 + childrenMs();
}

/** Fields `cutime` and `cstime` of proc(5), in ticks of 10 ms. */
function childrenMs(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}

import { readdirSync, readFileSync } from "node:fs";

/** Of the sandbox that the files of a process share: no file sees them among its own. */
export const lastingPids = new Set<number>();

/** Pids of our children that hold isolates, except those of the shared sandbox. Fails where there is no /proc, rather than let a test pass that saw nothing. */
export function sandboxPids(parent = process.pid): number[] {
  if (process.platform !== "linux") throw new Error(`processes are looked up in /proc: this test needs Linux, not ${process.platform}`);
  return childrenOf(parent)
    .filter((pid) => !lastingPids.has(pid) && isSandbox(pid))
    .toSorted((a, b) => a - b);
}

/** A zombie has no command line. */
const isSandbox = (pid: number): boolean => readProc(`${pid}/cmdline`).includes("sandbox-child.mjs");

/** proc(5) lists children by the thread that started them. To look at all processes would take half of a core of tests that poll. */
function childrenOf(pid: number): number[] {
  const lists = readdirSync(`/proc/${pid}/task`).map((thread) => readProc(`${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

/** Empty if the process or the thread has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

export async function until(condition: () => boolean, what: string, timeoutMs = 120_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

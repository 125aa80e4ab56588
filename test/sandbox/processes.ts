import { readdirSync, readFileSync } from "node:fs";

/** Of the sandbox that the files of a process share: no file sees them among its own. */
export const lastingPids = new Set<number>();

/** Pids of our children that hold isolates, except those of the shared sandbox. Fails where there is no /proc, rather than let a test pass that saw nothing. */
export function sandboxPids(parent = process.pid): number[] {
  if (process.platform !== "linux") throw new Error(`processes are looked up in /proc: this test needs Linux, not ${process.platform}`);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => !lastingPids.has(pid))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return Number(ppid) === parent && state !== "Z" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("sandbox-child.mjs");
      } catch {
        return false;
      }
    });
}

export async function until(condition: () => boolean, what: string, timeoutMs = 120_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

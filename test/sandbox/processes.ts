import { childrenOf, readProc } from "../../scripts/proc.ts";

/** Of the sandbox that the files of a worker share: no file sees them among its own. */
export const sharedSandboxPids = new Set<number>();

/** Pids of our children that hold isolates, except those of the shared sandbox. Fails where there is no /proc, rather than let a test pass that saw nothing. */
export function sandboxPids(parent = process.pid): number[] {
  if (process.platform !== "linux") throw new Error(`processes are looked up in /proc: this test needs Linux, not ${process.platform}`);
  return childrenOf(parent)
    .filter((pid) => !sharedSandboxPids.has(pid) && isSandbox(pid))
    .toSorted((a, b) => a - b);
}

/** A zombie has no command line. */
const isSandbox = (pid: number): boolean => readProc(`${pid}/cmdline`).includes("sandbox-child.mjs");

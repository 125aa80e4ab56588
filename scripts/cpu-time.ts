import { childrenOf, statFieldsOf, tickMs } from "./proc.ts";

/** CPU time in ms that a process and its descendants have used, those that have ended included. 0 without Linux's /proc. */
export function cpuMsOfTree(pid: number): number {
  // `utime`, `stime`, and `cutime` and `cstime` of the children that have ended.
  const ticks = statFieldsOf(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsOfTree(child), ticks * tickMs);
}

import { readFileSync } from "node:fs";

/**
 * CPU time of this process, in ms, for a synchronous action: the smallest of several measurements. Unlike elapsed time it hardly
 * depends on what else the machine does.
 */
export function cpuMsOf(action: () => void, measurements = 3): number {
  const times = Array.from({ length: measurements }, () => {
    const before = process.cpuUsage();
    action();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

/** CPU time of a process since its start, in ticks of 10 ms; undefined if it has ended. Linux only. */
export function cpuMsOfProcess(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Fields `utime` and `stime` of proc(5), counted after the command's name, which may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

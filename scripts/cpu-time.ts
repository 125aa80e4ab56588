import { readdirSync, readFileSync } from "node:fs";

/** proc(5) counts CPU time for programs in hundredths of a second. */
const tickMs = 10;

/** CPU time in ms that a process and its descendants have used, those that have ended included. 0 without Linux's /proc. */
export function cpuMsOfTree(pid: number): number {
  const stat = readProc(`${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // `utime`, `stime`, and `cutime` and `cstime` of the children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsOfTree(child), ticks * tickMs);
}

/** Listed by the thread that started them. */
function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) =>
    readProc(`${pid}/task/${thread}/children`)
      .split(" ")
      .filter((child) => child !== "")
      .map(Number),
  );
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // The process has ended.
  }
}

/** Empty if the process or the thread has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

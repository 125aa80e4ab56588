import { readFileSync } from "node:fs";

const pageBytes = 4096;
/** Linux counts CPU time for programs in hundredths of a second. */
const tickMs = 10;

/** CPU time of the thread that answers; without Linux's /proc, as if it computed all the time. */
export function mainThreadCpuMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return performance.now();
  }
}

export function residentBytesOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * pageBytes;
  } catch {
    // It is gone, or this is not Linux: then the container's limit is all there is.
    return 0;
  }
}

import { readdirSync, readFileSync } from "node:fs";

/** proc(5) counts CPU time for programs in hundredths of a second. */
export const tickMs = 10;

/** Content of a file below /proc. Empty if the process or the thread has ended, and without Linux's /proc. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

/** The fields of /proc/<pid>/stat after the command's name, which may hold spaces and parentheses: state, parent …; none if it has ended. */
export function statFieldsOf(pid: number): readonly string[] {
  const stat = readProc(`${pid}/stat`);
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** The kernel lists children by the thread that started them. To look at all processes would take half of a core of tests that poll. */
export function childrenOf(pid: number): readonly number[] {
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

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface FoundProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Processes that use a data directory, by command line, environment or working directory. Includes orphans. */
export function processesOf(dataDirectory: string): readonly FoundProcess[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.flatMap((pid) => {
    const [command, environment, directory] = [read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/environ`), linkOf(`/proc/${pid}/cwd`)];
    if (pid === process.pid || ![command, environment, directory].some((text) => text.includes(dataDirectory))) return [];
    const stat = read(`/proc/${pid}/stat`);
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? [] : [{ pid, parent: Number(parent), command: command.replaceAll("\0", " ").slice(0, 200) }];
  });
}

/** Process id of main.ts, which holds the data directory; not of its launcher. */
export function mainOf(dataDirectory: string): number {
  const lock: unknown = JSON.parse(readFileSync(`${dataDirectory}/lock`, "utf8"));
  if (typeof lock === "object" && lock !== null && "pid" in lock && typeof lock.pid === "number") return lock.pid;
  throw new Error(`no process holds ${dataDirectory}`);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process has ended.
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}

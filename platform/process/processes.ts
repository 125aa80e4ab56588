import { spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { waitUntil } from "../../domain/retry.ts";

/**
 * True if a process with this id runs, also as another user. A zombie, whose parent has not waited for it (common in containers), does not
 * run.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Field 3 of proc(5), the first after the command's name, which may contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false; // Hidden from us, but it exists.
  }
}

/** Command line of a process, arguments separated by spaces; empty without such a process. */
export async function commandLine(pid: number): Promise<string> {
  if (!isAlive(pid)) return "";
  if (process.platform === "linux") {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim();
  }
  if (process.platform === "win32") return "";
  return spawnSync("ps", ["-p", String(pid), "-o", "args="], { encoding: "utf8" }).stdout.trim();
}

/** Signals a process that is not our child, and kills it if it has not ended within `graceMs`. */
export async function endProcess(pid: number, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  signalIfAlive(pid, signal);
  if (await waitUntil(() => !isAlive(pid), graceMs)) return;
  signalIfAlive(pid, "SIGKILL");
  await waitUntil(() => !isAlive(pid), 2_000);
}

/** Ends a child the same way; resolves when it has exited. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (hasExited(child)) return;
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await exited;
  clearTimeout(timer);
}

export const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** Start time of a process in the system's format, identical only for the same process. Empty if the system does not provide it. */
export async function startOf(pid: number): Promise<string> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // Field 22 of proc(5), counted after the command's name, which may contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  if (process.platform === "win32") return "";
  return spawnSync("ps", ["-p", String(pid), "-o", "lstart="], { encoding: "utf8" }).stdout.trim();
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sandboxProfile } from "./profiles.ts";
import type { JailProfile, JailRules } from "./rules.ts";

/** Starts a command in a jail. Absent: commands start without one. */
export type Jail = (readable: readonly string[], command: readonly string[], writable?: readonly string[]) => readonly string[];

/** Node, its loader and what both read: libraries, their own state, time zones, the limits of the machine. */
const systemFiles = `
  /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /usr/share/zoneinfo /etc/ld.so.cache /etc/localtime
  /etc/ssl/openssl.cnf
  /dev/null /dev/urandom /proc/self /proc/meminfo /proc/cpuinfo /proc/sys/vm/overcommit_memory
  /sys/devices/system/cpu /sys/fs/cgroup`
  .trim()
  .split(/\s+/);
/** `execve` reads both. */
const loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

/** @param launcher path of the program, see launcher.ts */
export function jailOf(launcher: string, profile: JailProfile = sandboxProfile): Jail {
  return (readable, command, writable) => [process.execPath, launcher, JSON.stringify(rulesOf(profile, readable, command, writable))];
}

export function rulesOf(
  profile: JailProfile,
  readable: readonly string[],
  command: readonly string[],
  writable: readonly string[] = [],
): JailRules {
  const [program = ""] = command;
  return { ...profile, readable: [...systemFiles, ...readable], writable, executable: [program, ...loaders], command };
}

/** Why a jail cannot be used here; undefined if it can, or if no process can be started at all, which is reported where one is needed. */
export async function findJailFailure(jail: Jail, readable: readonly string[] = []): Promise<string | undefined> {
  const [program = "", ...args] = jail(readable, [process.execPath, "--version"]);
  try {
    await promisify(execFile)(program, args, { env: {}, timeout: 30_000 });
    return undefined;
  } catch (error) {
    const { code, stderr = "", message } = error as { readonly code?: unknown; readonly stderr?: string; readonly message: string }; // Of execFile.
    // A text is the code of an error of `spawn`.
    return typeof code === "string" ? undefined : (stderr.trim() || message).slice(0, 500);
  }
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** `auto`: sandbox processes run without a jail where it does not work, with a warning. `required`: then none starts. */
export const jailModes = ["auto", "required", "off"] as const;
export type JailMode = (typeof jailModes)[number];

/** What the kernel lets a process in the jail do with files. Directories include what is below them. */
export interface JailRules {
  readonly readable: readonly string[];
  readonly executable: readonly string[];
}

/** Starts a command in a jail. Absent: commands start without one. */
export type Jail = (readable: readonly string[], command: readonly string[]) => readonly string[];

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
export function jailOf(launcher: string): Jail {
  return (readable, command) => {
    const rules: JailRules = {
      readable: [...systemFiles, ...readable],
      executable: [process.execPath, ...loaders],
    };
    return [process.execPath, "--disable-warning=ExperimentalWarning", launcher, JSON.stringify(rules), ...command];
  };
}

/** Why a jail cannot be used here; undefined if it can, or if no process can be started at all, which is reported where one is needed. */
export async function findJailFailure(jail: Jail): Promise<string | undefined> {
  const [program = "", ...args] = jail([], [process.execPath, "--version"]);
  try {
    await promisify(execFile)(program, args, { env: {}, timeout: 30_000 });
    return undefined;
  } catch (error) {
    const { code, stderr = "", message } = error as { readonly code?: unknown; readonly stderr?: string; readonly message: string }; // Of execFile.
    // A text is the code of an error of `spawn`.
    return typeof code === "string" ? undefined : (stderr.trim() || message).slice(0, 500);
  }
}

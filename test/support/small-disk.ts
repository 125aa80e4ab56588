import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { findPostgres } from "../../platform/process/postgres/postgres-installation.ts";
import { endChild } from "./child.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** A file system of a few megabytes, in memory. */
export interface SmallDisk {
  /** A path that processes of this user and of Postgres's user can open. */
  readonly path: string;
  /** Fills the disk. */
  fill(): void;
  /** Frees the space again. */
  free(): void;
  remove(): Promise<void>;
}

/** The disk disappears after this time even if the test process dies. */
const maxSeconds = 1_800;

/**
 * A tmpfs in a separate mount namespace. A sleeping process holds it; others reach it below /proc/<pid>/root. Needs no root where users
 * may create namespaces. Undefined where they may not, and on systems other than Linux.
 */
export async function startSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  if (process.platform !== "linux") return undefined;
  const place = await temporaryDirectory("small-disk");
  const holder = hold(place.path, megabytes, (await findPostgres()).owner);
  const remove = async (): Promise<void> => {
    await endChild(holder, "SIGKILL");
    await place.remove();
  };
  if (!(await isReady(holder))) {
    await remove();
    return undefined;
  }
  const path = `/proc/${holder.pid}/root${place.path}`;
  const filler = join(path, "filler");
  return { path, fill: () => fill(filler), free: () => rmSync(filler, { force: true }), remove };
}

/** Root mounts and then switches to the user of Postgres, which could not read /proc of a root process. */
function hold(place: string, megabytes: number, owner: { readonly uid: number; readonly gid: number } | undefined): ChildProcess {
  const mount = `mount -t tmpfs -o size=${megabytes}m,mode=0755 tmpfs "$0" && echo ready && exec`;
  const become = owner === undefined ? "" : `setpriv --reuid=${owner.uid} --regid=${owner.gid} --clear-groups`;
  const flags = owner === undefined ? ["--user", "--map-root-user", "--mount"] : ["--mount"];
  return spawn("unshare", [...flags, "sh", "-c", `${mount} ${become} sleep ${maxSeconds}`, place], {
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function isReady(holder: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    holder.stdout?.once("data", () => resolve(true));
    holder.once("exit", () => resolve(false));
    holder.once("error", () => resolve(false));
  });
}

function fill(file: string): void {
  const descriptor = openSync(file, "a");
  try {
    for (const bytes of [65_536, 4_096, 1]) writeUntilFull(descriptor, Buffer.alloc(bytes));
  } finally {
    closeSync(descriptor);
  }
}

function writeUntilFull(descriptor: number, piece: Buffer): void {
  try {
    for (;;) writeSync(descriptor, piece);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

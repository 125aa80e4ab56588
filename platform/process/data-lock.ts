import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { Conflict, InvalidInput } from "../../domain/errors.ts";
import { isAlive, startOf } from "./processes.ts";

const holderSchema = z.object({
  pid: z.number().int().positive(),
  /** Distinguishes the holder from a later process with the same id; empty if the system does not provide it. */
  startedAt: z.string(),
  address: z.string(),
});
type Holder = z.output<typeof holderSchema>;

export interface DataLock {
  /** True if the last holder crashed. Its role processes may take a moment to end. */
  readonly afterCrash: boolean;
  release(): Promise<void>;
}

/**
 * Locks a data directory for this process: two processes would start two servers on the same files. A lock of a dead process is taken over.
 * The file is linked into place, so that it is always complete and only one process can succeed.
 * @throws Conflict with the holder's process id and address, InvalidInput when the directory is not writable
 */
export async function lockDataDirectory(dataDirectory: string, address: string): Promise<DataLock> {
  const directory = resolve(dataDirectory);
  const file = join(directory, "lock");
  const own: Holder = { pid: process.pid, startedAt: await startOf(process.pid), address };
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await makeDirectory(directory);
    await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  } catch (cause) {
    throw notWritable(directory, cause);
  }
  try {
    const afterCrash = await takeOver(file, draft, directory);
    return { afterCrash, release: () => releaseOwn(file, own) };
  } finally {
    await rm(draft, { force: true });
  }
}

/** One level at a time: Node's recursive mkdir never returns in a file system such as /proc, where nothing can be created. */
async function makeDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory).catch((error: NodeJS.ErrnoException) => error.code);
  if (made === undefined || made === "EEXIST") return;
  const parent = dirname(directory);
  if (made === "ENOENT" && parent !== directory) await makeDirectory(parent);
  await mkdir(directory);
}

function notWritable(directory: string, cause: unknown): InvalidInput {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new InvalidInput(`the data directory ${directory} cannot be written (${reason}): set HEADWATER_DATA to one that can`, {
    code: "data_not_writable",
    cause,
  });
}

/** @returns whether it replaced the lock of a dead process */
async function takeOver(file: string, draft: string, directory: string): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      await link(draft, file);
      return attempt > 0;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const holder = await readHolder(file);
    if (holder !== undefined && (await isHolding(holder))) throw heldBy(directory, holder);
    await removeStale(file, `${draft}.stale`);
  }
  throw new Conflict(`the lock of ${directory} could not be taken: other processes keep taking it`, {
    code: "data_locked",
  });
}

/** Renames the lock and reads it again before removing it: another process may have taken it over in between; then its lock is restored. */
async function removeStale(file: string, moved: string): Promise<void> {
  await rename(file, moved).catch(() => undefined);
  const holder = await readHolder(moved);
  if (holder !== undefined && (await isHolding(holder))) await link(moved, file).catch(() => undefined);
  await rm(moved, { force: true });
}

async function readHolder(file: string): Promise<Holder | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function isHolding(holder: Holder): Promise<boolean> {
  return isAlive(holder.pid) && (await startOf(holder.pid)) === holder.startedAt;
}

function heldBy(directory: string, holder: Holder): Conflict {
  return new Conflict(
    `${directory} is in use by process ${holder.pid}, which serves ${holder.address}: stop it, or set HEADWATER_DATA, HEADWATER_LISTEN and HEADWATER_INGRESS_LISTEN to others`,
    { code: "data_locked" },
  );
}

/** Only if it is ours: it may have been taken over. */
async function releaseOwn(file: string, own: Holder): Promise<void> {
  const holder = await readHolder(file);
  if (holder?.pid === own.pid && holder.startedAt === own.startedAt) await rm(file, { force: true });
}

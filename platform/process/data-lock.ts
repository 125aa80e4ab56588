import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { Conflict, InvalidInput } from "../../domain/errors.ts";
import { isAlive, startOf } from "./processes.ts";

const holderSchema = z.object({
  pid: z.number().int().positive(),
  /** Tells the holder from a later process of the same id; empty where the system does not say. */
  startedAt: z.string(),
  address: z.string(),
});
type Holder = z.output<typeof holderSchema>;

export interface DataLock {
  /** Whether the last holder died without releasing it. Then its role processes may take a moment to end. */
  readonly afterCrash: boolean;
  release(): Promise<void>;
}

/**
 * Makes this process the only one that uses a data directory: two would start two servers on the same files.
 * A lock whose process is gone is taken over. The file is linked into place whole, so that it is never seen
 * half-written, and only one of two can succeed.
 *
 * @throws Conflict naming the holder's process id and address, InvalidInput when nothing can be written there.
 */
export async function lockDataDirectory(dataDirectory: string, address: string): Promise<DataLock> {
  const directory = resolve(dataDirectory);
  const file = join(directory, "lock");
  const own: Holder = { pid: process.pid, startedAt: await startOf(process.pid), address };
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await makeDirectory(directory);
    await writeFile(fresh, JSON.stringify(own), { mode: 0o600 });
  } catch (cause) {
    throw notWritable(directory, cause);
  }
  try {
    const afterCrash = await takeOver(file, fresh, directory);
    return { afterCrash, release: () => releaseOwn(file, own) };
  } finally {
    await rm(fresh, { force: true });
  }
}

/** One step at a time: Node's own recursion never ends in a file system such as /proc, where nothing can be made. */
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

/** @returns whether a lock of a process that is gone was in the way */
async function takeOver(file: string, fresh: string, directory: string): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      await link(fresh, file);
      return attempt > 0;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const holder = await readHolder(file);
    if (holder !== undefined && (await isHolding(holder))) throw heldBy(directory, holder);
    await removeStale(file, `${fresh}.stale`);
  }
  throw new Conflict(`the lock of ${directory} could not be taken: other processes keep taking it`, {
    code: "data_locked",
  });
}

/**
 * Moved aside and looked at again before it goes: between reading and removing, another process may have taken the
 * lock over, and its lock is put back.
 */
async function removeStale(file: string, aside: string): Promise<void> {
  await rename(file, aside).catch(() => undefined);
  const holder = await readHolder(aside);
  if (holder !== undefined && (await isHolding(holder))) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
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

/** Only while it is ours: after a take-over it belongs to somebody else. */
async function releaseOwn(file: string, own: Holder): Promise<void> {
  const holder = await readHolder(file);
  if (holder?.pid === own.pid && holder.startedAt === own.startedAt) await rm(file, { force: true });
}

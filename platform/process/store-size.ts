import { mkdir, readdir, stat, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Configuration } from "./configuration.ts";

const gibibyte = 2 ** 30;
/** For a server of somebody else's, whose disk cannot be asked for. */
const givenStoreBytes = 8 * gibibyte;
const maxOwnBytes = 64 * gibibyte;
/** Of the disk, what streams may take that is free or theirs already; the rest is for Postgres, logs and others. */
const ownShare = 0.6;
/** So that a few bytes more or less on the disk change no limits. */
const step = 2 ** 26;

/** What all streams together may take of the disk of each NATS server. */
export async function storeBytesOf({ storeBytes, natsUrl, dataDirectory }: Configuration): Promise<number> {
  if (storeBytes !== undefined) return storeBytes;
  if (natsUrl !== undefined) return givenStoreBytes;
  const directory = resolve(dataDirectory, "nats");
  const { free, used } = await roomIn(directory);
  return Math.max(step, Math.floor(Math.min(maxOwnBytes, ownShare * (free + used)) / step) * step);
}

/** What the server that we start may write at all: more than the streams' limits, so that these decide. */
export async function maxFileStoreOf(configuration: Configuration): Promise<number> {
  const { free, used } = await roomIn(resolve(configuration.dataDirectory, "nats"));
  return Math.max(await storeBytesOf(configuration), free + used);
}

async function roomIn(directory: string): Promise<{ readonly free: number; readonly used: number }> {
  await mkdir(directory, { recursive: true });
  const { bavail, bsize } = await statfs(directory);
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map((file) =>
        stat(join(file.parentPath, file.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return { free: bavail * bsize, used: sizes.reduce((sum, size) => sum + size, 0) };
}

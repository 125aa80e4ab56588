import { mkdir, readdir, stat, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Configuration } from "../settings/configuration.ts";

const gibibyte = 2 ** 30;
/** For an external server, whose disk size is unknown. */
const givenStoreBytes = 8 * gibibyte;
const maxOwnBytes = 64 * gibibyte;
/** Streams may take this share of the space that is free or already theirs; the rest is for Postgres, logs and others. */
const ownShare = 0.6;
/** Rounds the limits, so that small changes of the disk do not change them. */
const step = 2 ** 26;

/** Limit of all streams together on the disk of each NATS server. */
export async function storeBytesOf({ storeBytes, natsUrl, dataDirectory }: Configuration): Promise<number> {
  if (storeBytes !== undefined) return storeBytes;
  if (natsUrl !== undefined) return givenStoreBytes;
  const directory = resolve(dataDirectory, "nats");
  const { free, used } = await roomIn(directory);
  return Math.max(step, Math.floor(Math.min(maxOwnBytes, ownShare * (free + used)) / step) * step);
}

/** Limit of the server that we start, above the streams' limits, so that those apply. */
export async function maxFileStoreOf(configuration: Configuration): Promise<number> {
  const { free, used } = await roomIn(resolve(configuration.dataDirectory, "nats"));
  return Math.max(await storeBytesOf(configuration), free + used);
}

async function roomIn(directory: string): Promise<{ readonly free: number; readonly used: number }> {
  await mkdir(directory, { recursive: true });
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
  return { free: await freeBytesIn(directory), used: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Free bytes of the disk that has a directory. */
export async function freeBytesIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { measureFolder } from "./npm/folder-size.ts";

/** What a file takes beside its bytes, and an empty one as well. */
export const fileBytes = 4096;
/** Written a moment ago it may be about to be read. */
const freshMs = 120_000;

/**
 * Keeps a folder of files that may all be lost below so many bytes: whoever builds again and again must not fill the disk, which may be
 * that of the databases too.
 */
export class DiskRoom {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #sweep: (folder: string, mostBytes: number) => Promise<void>;
  #unseenBytes = Infinity;
  #sweeping: Promise<void> | undefined;

  constructor(folder: string, mostBytes: number, sweep: (folder: string, mostBytes: number) => Promise<void> = removeOldest) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#sweep = sweep;
  }

  /** To be told of what was written. Looks at the folder when it may have grown by a tenth of its room. */
  async wrote(bytes: number): Promise<void> {
    this.#unseenBytes += bytes + fileBytes;
    if (this.#unseenBytes < this.#mostBytes / 10) return;
    this.#sweeping ??= this.#sweep(this.#folder, this.#mostBytes).finally(() => (this.#sweeping = undefined));
    this.#unseenBytes = 0;
    await this.#sweeping;
  }
}

/** Of the files directly in a folder the oldest go, down to nine tenths of the room. */
async function removeOldest(folder: string, mostBytes: number): Promise<void> {
  const files = (
    await Promise.all(
      (await readdir(folder)).map(async (name) => {
        const found = await stat(join(folder, name)).catch(() => undefined);
        return found === undefined ? [] : [{ name, mtimeMs: found.mtimeMs, bytes: found.size + fileBytes }];
      }),
    )
  ).flat();
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= mostBytes) return;
  for (const { name, mtimeMs, bytes } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= 0.9 * mostBytes || Date.now() - mtimeMs < freshMs) return;
    await rm(join(folder, name), { force: true });
    total -= bytes;
  }
}

/** A folder whose files belong together is begun anew. Nobody may be using it. */
export async function beginAnew(folder: string, mostBytes: number): Promise<void> {
  const { bytes, files } = await measureFolder(folder, { bytes: mostBytes, files: mostBytes / fileBytes });
  if (bytes + files * fileBytes <= mostBytes) return;
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  await rename(folder, old);
  await mkdir(folder);
  await rm(old, { recursive: true, force: true });
}

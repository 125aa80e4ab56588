import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { measureFolder } from "../npm/folder-size.ts";

/** What a file takes beside its bytes, and an empty one as well. */
export const fileBytes = 4096;
/** Written a moment ago it may be about to be read. */
const freshMs = 120_000;

/**
 * Keeps a folder of files that may all be lost below so many bytes: repeated builds must not fill the disk, which may be
 * that of the databases too.
 */
export class DiskRoom {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #sweep: (folder: string, maxBytes: number) => Promise<void>;
  #unseenBytes = Infinity;
  #sweeping: Promise<void> | undefined;

  constructor(folder: string, maxBytes: number, sweep: (folder: string, maxBytes: number) => Promise<void> = removeOldest) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#sweep = sweep;
  }

  /** Records a write. Measures the folder when it may have grown by a tenth of its limit. */
  async wrote(bytes: number): Promise<void> {
    this.#unseenBytes += bytes + fileBytes;
    if (this.#unseenBytes < this.#maxBytes / 10) return;
    this.#sweeping ??= this.#sweep(this.#folder, this.#maxBytes).finally(() => (this.#sweeping = undefined));
    this.#unseenBytes = 0;
    await this.#sweeping;
  }
}

/** Of the files directly in a folder the oldest go, down to nine tenths of the room. */
async function removeOldest(folder: string, maxBytes: number): Promise<void> {
  const files = (
    await Promise.all(
      (await readdir(folder)).map(async (name) => {
        const found = await stat(join(folder, name)).catch(() => undefined);
        return found === undefined ? [] : [{ name, mtimeMs: found.mtimeMs, bytes: found.size + fileBytes }];
      }),
    )
  ).flat();
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  for (const { name, mtimeMs, bytes } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= 0.9 * maxBytes || Date.now() - mtimeMs < freshMs) return;
    await rm(join(folder, name), { force: true });
    total -= bytes;
  }
}

/** Empties a folder larger than `maxBytes` whose files depend on each other. It must not be in use. */
export async function clearIfTooLarge(folder: string, maxBytes: number): Promise<void> {
  const { bytes, files } = await measureFolder(folder, { bytes: maxBytes, files: maxBytes / fileBytes });
  if (bytes + files * fileBytes <= maxBytes) return;
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  await rename(folder, old);
  await mkdir(folder);
  await rm(old, { recursive: true, force: true });
}

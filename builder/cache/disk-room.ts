import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { measureFolder } from "./folder-size.ts";

/** Disk space of a file beside its bytes. */
export const fileBytes = 4096;
/** A newer file may be read in a moment. */
const freshMs = 120_000;

/**
 * Bounds the bytes of a folder of disposable files: repeated builds must not fill the disk, which the databases may share.
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

/** Deletes the oldest files directly in a folder until nine tenths of the limit remain. */
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

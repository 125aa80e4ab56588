import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { BlobStore } from "./object-store.ts";
import type { Bundles } from "../../../runner/run/ports.ts";

/** Bundles as files: fetched once from the object store, then read by every child process. A bundle is named by its hash, so a file never changes. */
export async function openLocalBundles(blobs: BlobStore, directory: string): Promise<Bundles> {
  await mkdir(directory, { recursive: true });
  const paths = new LRUCache<string, Promise<string>>({ max: 100_000 });
  const fetch = async (hash: string): Promise<string> => {
    const path = join(directory, `${hash}.js`);
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    if (exists) return path;
    const partial = `${path}.${process.pid}`;
    await writeFile(partial, await blobs.get(hash));
    await rename(partial, path);
    return path;
  };
  return {
    path: (hash) => {
      const cached = paths.get(hash);
      if (cached !== undefined) return cached;
      const path = fetch(hash);
      paths.set(hash, path);
      path.catch(() => paths.delete(hash));
      return path;
    },
  };
}

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { Build } from "../../domain/component/definition.ts";
import { DiskRoom } from "../cache/disk-room.ts";
import type { BundleText } from "./bundle.ts";

/** Caches builds and the texts of their bundles, in memory and on disk. */
export interface BuildCache {
  find(key: string): Promise<Build | undefined>;
  add(key: string, build: Build): Promise<void>;
  /** The file with a bundle's text, which the sandbox reads. */
  bundlePath(hash: string): string;
  writeBundle(bundle: BundleText): Promise<void>;
  readBundle(hash: string): Promise<{ text: Uint8Array; map: Uint8Array } | undefined>;
}

/** Files: `builds/<key>.json`, `bundles/<hash>.js`, `bundles/<hash>.js.map`. Each appears whole, by renaming. */
export async function openBuildCache(directory: string, keptBytes: number): Promise<BuildCache> {
  const builds = join(directory, "builds");
  const bundles = join(directory, "bundles");
  await Promise.all([builds, bundles].map((path) => mkdir(path, { recursive: true })));
  const memory = new LRUCache<string, Build>({
    maxSize: 32 * 2 ** 20,
    sizeCalculation: (build) => 1_000 + (build.lockfile?.length ?? 0),
  });
  const roomForBuilds = new DiskRoom(builds, keptBytes);
  const roomForBundles = new DiskRoom(bundles, keptBytes);
  const bundlePath = (hash: string): string => join(bundles, `${hash}.js`);

  return {
    bundlePath,
    async find(key) {
      const known = memory.get(key);
      if (known) return known;
      const text = await readFile(join(builds, `${key}.json`), "utf8").catch(() => undefined);
      if (text === undefined) return undefined;
      // Written below, and only there.
      const build = JSON.parse(text) as Build;
      memory.set(key, build);
      return build;
    },
    async add(key, build) {
      const text = JSON.stringify(build);
      await writeWhole(join(builds, `${key}.json`), text);
      memory.set(key, build);
      await roomForBuilds.wrote(text.length);
    },
    async writeBundle({ hash, text, map }) {
      await Promise.all([writeWhole(bundlePath(hash), text), writeWhole(`${bundlePath(hash)}.map`, map)]);
      await roomForBundles.wrote(text.length + map.length);
    },
    async readBundle(hash) {
      const files = [bundlePath(hash), `${bundlePath(hash)}.map`].map((path) => readFile(path));
      const [text, map] = await Promise.all(files).catch(() => []);
      return text && map ? { text, map } : undefined;
    },
  };
}

let written = 0;

async function writeWhole(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}-${written++}`;
  await writeFile(beside, text);
  await rename(beside, path);
}

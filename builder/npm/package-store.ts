import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/clock.ts";
import { clearIfTooLarge, DiskRoom } from "../cache/disk-room.ts";
import { sha256 } from "../cache/hash.ts";
import type { BuildLimits } from "../limits.ts";
import type { Confine } from "../ports.ts";
import type { NpmConfig } from "./config.ts";
import { install, type PerformInstall } from "./install.ts";

/** Packages on disk, ready to be bundled. */
export interface PackageSet {
  /** Holds `node_modules`. */
  readonly directory: string;
  readonly lockfile: string;
}

/** Folder name below node_modules → what npm is asked for. */
type Wanted = Readonly<Record<string, string>>;

export interface PackageStore {
  /**
   * Finds the set in the store, or installs it. Concurrent equal requests share one install.
   * @param freshMs time after which versions are resolved again without a lockfile; default: of the limits
   */
  provide(wanted: Wanted, lockfile: string | null, owner: string, freshMs?: number): Promise<PackageSet>;
  /** An empty set, for components that import nothing. */
  readonly empty: string;
}

interface Options {
  readonly directory: string;
  readonly npm: NpmConfig;
  readonly limits: BuildLimits;
  readonly clock: Clock;
  readonly confine?: Confine | undefined;
  readonly performInstall?: PerformInstall | undefined;
  /** Runs one install at a time, with owners in turn. */
  readonly enqueue: <T>(owner: string, work: () => Promise<T>) => Promise<T>;
}

/** What a wish was resolved to; a file of `resolutions/`, named by the hash of the wish. */
interface Resolution {
  readonly set: string;
  readonly at: number;
}

const marker = ".complete";
/** esbuild may have a user of its own. A new folder of `mkdtemp` is for its owner only. */
const readableByAll = 0o755;

/**
 * Content-addressed sets of packages: `sets/<hash of lockfile>/node_modules`. A set is filled under another name and renamed when
 * whole, its marker written before: whatever is found under its name can be used, whenever the process died.
 */
export async function openPackageStore(options: Options): Promise<PackageStore> {
  const { directory, limits, clock, confine, performInstall, npm } = options;
  const paths = {
    sets: join(directory, "sets"),
    resolutions: join(directory, "resolutions"),
    filling: join(directory, "filling"),
    cache: join(directory, cacheName(confine)),
    empty: join(directory, "empty"),
  };
  await Promise.all(Object.values(paths).map((path) => mkdir(path, { recursive: true })));
  await removeAbandoned(paths.filling, clock.now());
  const roomForResolutions = new DiskRoom(paths.resolutions, limits.keptBytes);
  const roomForCache = new DiskRoom(paths.cache, limits.cacheBytes, clearIfTooLarge);
  const resolutions = new LRUCache<string, Resolution>({ max: 10_000 });
  const installing = new Map<string, Promise<PackageSet>>();

  async function provide(wanted: Wanted, lockfile: string | null, owner: string, freshMs = limits.freshMs): Promise<PackageSet> {
    const wish = sha256(JSON.stringify(wanted), lockfile ?? "");
    const known = await find(wish, lockfile === null ? freshMs : Infinity);
    if (known) return known;
    const running = installing.get(wish);
    if (running) return running;
    const started = options.enqueue(owner, () => fill(wish, wanted, lockfile)).finally(() => installing.delete(wish));
    installing.set(wish, started);
    return started;
  }

  /** Without a lockfile a range like "latest" resolves differently tomorrow; with one it always resolves to the same. */
  async function find(wish: string, freshMs: number): Promise<PackageSet | undefined> {
    const resolution = resolutions.get(wish) ?? (await readResolution(join(paths.resolutions, `${wish}.json`)));
    if (!resolution || clock.now() - resolution.at > freshMs) return undefined;
    const set = join(paths.sets, resolution.set);
    const lockfile = await readFile(join(set, "package-lock.json"), "utf8").catch(() => null);
    if (lockfile === null) return undefined;
    resolutions.set(wish, resolution);
    await chmod(set, readableByAll);
    const now = new Date(clock.now());
    await utimes(join(set, marker), now, now);
    return { directory: set, lockfile };
  }

  async function fill(wish: string, wanted: Wanted, lockfile: string | null): Promise<PackageSet> {
    const filling = await makeFolder(paths.filling);
    try {
      // Its own time limit, not that of a request: others may be waiting for the same set.
      const signal = AbortSignal.timeout(limits.buildMs);
      const installed = await install({ directory: filling, wanted, lockfile, signal, confine, performInstall }, npm, paths.cache, limits);
      await writeFile(join(filling, "package-lock.json"), installed.lockfile);
      await writeFile(join(filling, marker), JSON.stringify({ bytes: installed.bytes }));
      const set = sha256(installed.lockfile);
      // The set exists if another request resolved to the same packages.
      await rename(filling, join(paths.sets, set)).catch((error: unknown) =>
        stat(join(paths.sets, set, marker)).catch(() => {
          throw error;
        }),
      );
      await writeResolution(join(paths.resolutions, `${wish}.json`), { set, at: clock.now() });
      resolutions.set(wish, { set, at: clock.now() });
      await collectGarbage(paths.sets, set, limits.storeBytes);
      await roomForResolutions.wrote(0);
      // Before the queue moves on, so that no install uses it at the same time.
      await roomForCache.wrote(installed.bytes);
      return { directory: join(paths.sets, set), lockfile: installed.lockfile };
    } finally {
      await rm(filling, { recursive: true, force: true });
    }
  }

  return { provide, empty: paths.empty };
}

/** Of npm's own cache; each user can write only what is its own. */
const cacheName = (confine: Confine | undefined): string => (confine?.user === undefined ? "cache" : `cache-${confine.user}`);

async function makeFolder(parent: string): Promise<string> {
  const folder = await mkdtemp(join(parent, "set-"));
  await chmod(folder, readableByAll);
  return folder;
}

/** Folders of installs that died. An hour is longer than any install, so none in progress is deleted. */
async function removeAbandoned(filling: string, now: number): Promise<void> {
  for (const name of await readdir(filling)) {
    const { mtimeMs } = await stat(join(filling, name));
    if (now - mtimeMs > 3_600_000) await rm(join(filling, name), { recursive: true, force: true });
  }
}

async function readResolution(file: string): Promise<Resolution | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  // Written by this file only, whole or not at all.
  return text === undefined ? undefined : (JSON.parse(text) as Resolution);
}

async function writeResolution(file: string, resolution: Resolution): Promise<void> {
  await writeFile(`${file}.${process.pid}`, JSON.stringify(resolution));
  await rename(`${file}.${process.pid}`, file);
}

/** Removes the least recently used sets until the rest fits. A set used a minute ago may be being bundled and stays. */
async function collectGarbage(sets: string, keep: string, storeBytes: number): Promise<void> {
  const found = await Promise.all(
    (await readdir(sets)).map(async (name) => {
      const file = join(sets, name, marker);
      const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, "utf8")]);
      return { name, mtimeMs, bytes: Number((JSON.parse(text) as { bytes: number }).bytes) };
    }),
  );
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const oldest = found.filter(({ name, mtimeMs }) => name !== keep && Date.now() - mtimeMs > 120_000).sort((a, b) => a.mtimeMs - b.mtimeMs);
  for (const set of oldest) {
    if (total <= storeBytes) return;
    await rm(join(sets, set.name), { recursive: true, force: true });
    total -= set.bytes;
  }
}

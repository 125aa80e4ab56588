import { lstat, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Arborist from "@npmcli/arborist";
import type { ArboristOptions, ArboristTree } from "@npmcli/arborist";
import { LimitExceeded } from "../../domain/errors.ts";
import { formatBytes, type BuildLimits } from "../limits.ts";
import type { NpmConfig } from "./config.ts";
import { parseLockfile, pinTags, restoreWishes } from "./lockfile.ts";
import { omitted, vetTree } from "./vet.ts";

export interface InstallRequest {
  /** An empty folder. */
  readonly directory: string;
  /** Folder name below node_modules → what npm is asked for. */
  readonly wanted: Readonly<Record<string, string>>;
  /** Checked by `parseLockfile`. */
  readonly lockfile: string | null;
  readonly signal: AbortSignal;
}

export interface Installed {
  readonly lockfile: string;
  readonly bytes: number;
}

/**
 * Resolves and installs packages into a folder: no scripts, no bin links, nothing that does not come from the registry.
 * The tree is vetted between deciding and downloading.
 */
export async function install(request: InstallRequest, npm: NpmConfig, cache: string, limits: BuildLimits): Promise<Installed> {
  const { directory, wanted, lockfile, signal } = request;
  // The name ends up in the lockfile; a fixed one keeps equal sets equal.
  await writeFile(
    join(directory, "package.json"),
    JSON.stringify({
      name: "component",
      private: true,
      dependencies: lockfile === null ? wanted : pinTags(wanted, lockfile),
    }),
  );
  if (lockfile !== null) await writeFile(join(directory, "package-lock.json"), lockfile);
  // Loaded at the first install: it takes tens of megabytes, and many components import nothing.
  const { default: Tree } = await import("@npmcli/arborist");
  const options = {
    ...npm,
    path: directory,
    cache,
    signal,
    ignoreScripts: true,
    binLinks: false,
    audit: false,
    omit: omitted,
    lockfileVersion: 3,
    allowGit: "none",
    allowRemote: "none",
    allowFile: "none",
    allowDirectory: "none",
    timeout: 20_000,
    fetchRetries: 1,
    fetchRetryMintimeout: 500,
    fetchRetryMaxtimeout: 2_000,
  } as const;
  const { arborist, tree } = await decide(Tree, options);
  vetTree(tree, limits);
  const bytes = await whileWatched(directory, limits, () => arborist.reify());
  const written = await readFile(join(directory, "package-lock.json"), "utf8");
  return { lockfile: restoreWishes(parseLockfile(written, limits), wanted), bytes };
}

/**
 * Packages that were imported without versions, or with old ones, may each name another version of a third as their peer. Most get on
 * with it all the same, and nobody could say in an import what would be right, so the wish of whoever is nearer to the root counts.
 */
async function decide(Tree: typeof Arborist, options: ArboristOptions): Promise<{ arborist: Arborist; tree: ArboristTree }> {
  const strict = new Tree(options);
  try {
    return { arborist: strict, tree: await strict.buildIdealTree() };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERESOLVE")) throw error;
    const lenient = new Tree({ ...options, force: true });
    return { arborist: lenient, tree: await lenient.buildIdealTree() };
  }
}

/**
 * The registry's word on sizes is its publisher's word, so the folder is measured while it fills. Removing it under the
 * extraction is the brake: what still runs fails for want of a folder.
 */
async function whileWatched(directory: string, limits: BuildLimits, reify: () => Promise<unknown>): Promise<number> {
  let exceeded = false;
  const watch = setInterval(() => {
    void sizeOf(directory)
      .then(async (bytes) => {
        if (bytes <= 2 * limits.unpackedBytes) return;
        exceeded = true;
        await rm(directory, { recursive: true, force: true });
      })
      .catch(() => undefined); // Folders come and go while npm works; the measure after the install is the exact one.
  }, 1_000);
  try {
    await reify();
  } catch (error) {
    throw exceeded ? tooLarge(2 * limits.unpackedBytes, limits) : error;
  } finally {
    clearInterval(watch);
  }
  const bytes = await sizeOf(directory);
  if (exceeded || bytes > limits.unpackedBytes) throw tooLarge(bytes, limits);
  return bytes;
}

const tooLarge = (bytes: number, limits: BuildLimits): Error =>
  new LimitExceeded(
    `the packages take ${formatBytes(bytes)} unpacked, ${formatBytes(limits.unpackedBytes)} are allowed: import less, or a smaller package`,
    { code: "packages_too_large", details: { bytes, limit: limits.unpackedBytes } },
  );

/** Bytes of all files below a folder. */
export async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

import { mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const kept = join(tmpdir(), "headwater-test-packages");

/** Has a builder in the directory keep npm packages on disk from run to run: a version never changes. */
export async function linkPackages(directory: string): Promise<void> {
  for (const name of ["sets", "resolutions", "cache"]) {
    await mkdir(join(kept, name), { recursive: true });
    await symlink(join(kept, name), join(directory, name));
  }
}

/** Limits of such a builder: one that trims these folders assumes that it is their only user, and several test files share them. */
export const sharedPackages = { storeBytes: Infinity, cacheBytes: Infinity, keptBytes: Infinity };

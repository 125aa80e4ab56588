import { mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BuildLimits } from "../../builder/limits.ts";

const kept = join(tmpdir(), "headwater-test-packages");

/** Has a builder in the directory keep npm packages on disk from run to run: a version never changes. */
export async function linkPackages(directory: string): Promise<void> {
  for (const name of ["sets", "resolutions", "cache"]) {
    await mkdir(join(kept, name), { recursive: true });
    await symlink(join(kept, name), join(directory, name));
  }
}

/** Limits of builds that end by themselves: beside programs that use all cores they take many times as long. */
export const patientBuilds: Partial<BuildLimits> = { buildMs: 200_000, scanMs: 100_000, bundleMs: 200_000, inspectMs: 100_000 };

/** Limits of such a builder: one that trims these folders assumes that it is their only user, and several test files share them. */
export const sharedPackages: Partial<BuildLimits> = {
  ...patientBuilds,
  storeBytes: Infinity,
  cacheBytes: Infinity,
  keptBytes: Infinity,
};

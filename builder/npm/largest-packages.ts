import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { LimitExceeded } from "../../domain/errors.ts";
import { measureFolder } from "../cache/folder-size.ts";
import { formatBytes, type BuildLimits } from "../limits.ts";

const maxNamed = 3;
const minBytes = 1;

/** The error of a set that is too large, with its largest packages: they are what to avoid. */
export async function withLargestPackages(error: LimitExceeded, directory: string, limits: BuildLimits): Promise<LimitExceeded> {
  const most = { bytes: limits.unpackedBytes, files: limits.unpackedFiles };
  const sizes = await Promise.all(
    (await installedIn(join(directory, "node_modules"))).map(async (name) => ({
      name,
      bytes: (await measureFolder(join(directory, "node_modules", name), most)).bytes,
    })),
  );
  const largest = sizes
    .filter(({ bytes }) => bytes >= minBytes)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, maxNamed);
  if (largest.length === 0) return error;
  const names = largest.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`).join(", ");
  const details = { ...(error.details as object | undefined), largest };
  return new LimitExceeded(`${error.message}; the largest are ${names}`, { code: error.code, details, cause: error });
}

/** Folders below node_modules that are packages. npm unpacks into folders with a dot first. */
async function installedIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const scopes = names.filter((name) => name.startsWith("@"));
  const scoped = await Promise.all(
    scopes.map(async (scope) => (await readdir(join(folder, scope)).catch(() => [])).map((name) => `${scope}/${name}`)),
  );
  return [...names.filter((name) => !/^[.@]/.test(name)), ...scoped.flat()].filter((name) => !name.includes("/."));
}

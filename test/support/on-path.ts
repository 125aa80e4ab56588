import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Path of the first of these programs that is on PATH. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** The named programs that are not on PATH. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
}

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The named programs that are not on PATH. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
}

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a command of this name is on PATH. */
export function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)));
}

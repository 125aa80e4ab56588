import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "..", "..");
const page = "docs/kubernetes.md";
/** The backup that the page names. */
export const documentedBackup = "2026-11-27T02-17-01-204Z";

/** The shell blocks of a section of docs/kubernetes.md, in their order. */
export function documentedBlocks(heading: string): readonly string[] {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const from = lines.indexOf(`## ${heading}`);
  const to = lines.findIndex((line, index) => index > from && line.startsWith("## "));
  return blocksOf(page)
    .filter(({ line, language }) => language === "bash" && line > from && line <= to)
    .map(({ text }) => text);
}

/** A directory with the files that the page names. */
export async function checkout(name: string): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory(name);
  for (const folder of ["charts", "docs"]) await symlink(join(root, folder), join(directory.path, folder));
  return directory;
}

/** Runs a block as documented, in a directory of `checkout`. @returns what it printed @throws with that, if a command fails */
export function runBlock(block: string, directory: string): Promise<string> {
  const options = { cwd: directory, timeout: 600_000, maxBuffer: 2 ** 24 };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-euo", "pipefail", "-c", block], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${block}\n${stdout}${stderr}`, { cause: error }));
    });
  });
}

/** The name of the backup that the log of its Job ends with. */
export function backupOf(printed: string): string {
  const name = /The backup is \/backups\/([\dTZ-]+)\./.exec(printed)?.[1];
  if (name === undefined) throw new Error(`no backup is named in ${printed}`);
  return name;
}

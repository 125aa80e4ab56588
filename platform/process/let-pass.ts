import { chmod, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, sep } from "node:path";
import { Unavailable } from "../../domain/errors.ts";

const passable = 0o001;

/**
 * Grants other users traversal (not listing) of `directory`: of itself, its parent, and temporary folders. Folders further out are not ours
 * to change.
 * @throws Unavailable with the closed folder and the alternatives
 */
export async function allowTraversal(directory: string): Promise<void> {
  const ours = [directory, dirname(directory)];
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & passable) !== 0) continue;
    if (!ours.includes(folder) && !folder.startsWith(tmpdir() + sep)) throw closed(folder, directory);
    await chmod(folder, mode | 0o111);
  }
}

/** The same check for a program that is only read, without changes. */
export async function requireTraversal(directory: string): Promise<void> {
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    if (((await stat(folder)).mode & passable) === 0) throw closed(folder, directory);
  }
}

function closed(folder: string, directory: string): Unavailable {
  return new Unavailable(
    `Postgres refuses to run as root, and the user postgres cannot reach ${directory} because ${folder} is closed to others: run Headwater as an ordinary user, move it to another directory, or set DATABASE_URL`,
  );
}

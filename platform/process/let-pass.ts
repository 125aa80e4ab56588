import { chmod, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, sep } from "node:path";
import { Unavailable } from "../../domain/errors.ts";

const passable = 0o001;

/**
 * Lets another user walk through (not list) to `directory`: through itself, the folder around it, and temporary
 * folders. Anything further out is not ours to open.
 *
 * @throws Unavailable naming the folder that is closed, and the ways round it.
 */
export async function letPass(directory: string): Promise<void> {
  const ours = [directory, dirname(directory)];
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & passable) !== 0) continue;
    if (!ours.includes(folder) && !folder.startsWith(tmpdir() + sep)) throw closed(folder, directory);
    await chmod(folder, mode | 0o111);
  }
}

/** The same for a program that is only read. */
export async function requirePassable(directory: string): Promise<void> {
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    if (((await stat(folder)).mode & passable) === 0) throw closed(folder, directory);
  }
}

function closed(folder: string, directory: string): Unavailable {
  return new Unavailable(
    `Postgres refuses to run as root, and the user postgres cannot reach ${directory} because ${folder} is closed to others: run Headwater as an ordinary user, keep it in another place, or set DATABASE_URL`,
  );
}

import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface FolderSize {
  readonly bytes: number;
  /** Files and folders: an empty one takes room, too. */
  readonly files: number;
}

/** What is below a folder; no more than a little beyond `most` is looked at. Files deleted during the measurement are not counted. */
export async function measureFolder(directory: string, most: FolderSize): Promise<FolderSize> {
  let bytes = 0;
  let files = 0;
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined && files <= most.files && bytes <= most.bytes; folder = folders.pop()) {
    const opened = await opendir(folder).catch(() => undefined);
    if (opened === undefined) continue;
    for await (const entry of opened) {
      files += 1;
      if (files > most.files) break;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else
        bytes += await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return { bytes, files };
}

import { constants } from "node:fs";
import { open, opendir, lstat } from "node:fs/promises";
import { join } from "node:path";
import { bounds, FilesWithinBounds, refused, type ExportFiles } from "./bounds.ts";
import { readZip } from "./read-zip.ts";

/** What a checkout has beside the export. */
const skipped: ReadonlySet<string> = new Set([".git", ".github", "node_modules"]);

/** The files of a folder, or of a ZIP archive. @throws Failure for what is no export, or is over a bound */
export async function readExport(path: string): Promise<ExportFiles> {
  const found = await lstat(path).catch((error: unknown) => {
    throw refused(path, error instanceof Error && "code" in error && error.code === "ENOENT" ? "it does not exist" : String(error));
  });
  if (found.isSymbolicLink()) throw refused(path, "it is a symbolic link: name the folder itself");
  if (found.isDirectory()) return readFolder(path);
  if (!found.isFile()) throw refused(path, "it is neither a folder nor a ZIP archive");
  if (found.size > bounds.archiveBytes) throw refused(path, `it has ${found.size} bytes, an archive has at most ${bounds.archiveBytes}`);
  return readZip(path, await readRegular(path, bounds.archiveBytes));
}

async function readFolder(root: string): Promise<ExportFiles> {
  const kept = new FilesWithinBounds();
  const folders: string[] = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(join(root, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (skipped.has(entry.name)) continue;
      if (entry.isSymbolicLink()) throw refused(path, "it is a symbolic link, which could lead out of the export");
      if (entry.isDirectory()) {
        if (path.split("/").length >= bounds.depth) throw refused(path, `folders are at most ${bounds.depth} deep`);
        folders.push(path);
        if (folders.length > bounds.files) throw refused(path, `an export has at most ${bounds.files} folders`);
        continue;
      }
      if (!entry.isFile()) throw refused(path, "it is no regular file");
      const { size } = await lstat(join(root, path));
      kept.admit(path, size);
      kept.files.set(path, await readRegular(join(root, path), size));
    }
  }
  return kept.files;
}

/** Opens without following a link, which may have taken the file's place, and reads no more than the bound. */
async function readRegular(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const content = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(content, length, content.length - length);
      length += bytesRead;
      if (bytesRead === 0) return content.subarray(0, length);
      if (length > maxBytes) throw refused(path, "it grows while it is read");
    }
  } finally {
    await file.close();
  }
}

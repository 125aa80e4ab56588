import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Whole or not at all: another process may be reading, or writing the same. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = join(dirname(path), `.${randomUUID()}`);
  await writeFile(draft, content);
  await rename(draft, path);
}

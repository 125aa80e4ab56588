import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** A new directory; the caller removes it. */
export async function temporaryDirectory(name = "test"): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), `headwater-${name}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Whether the registry in npm's configuration answers. Tests that need it are skipped, visibly, where it does not. */
export async function registryAnswers(): Promise<boolean> {
  try {
    await promisify(execFile)("npm", ["view", "ms", "version"], { timeout: 30_000 });
    return true;
  } catch {
    return false;
  }
}

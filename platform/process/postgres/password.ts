import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";

/**
 * The password stored in `file`, created on first use: 192 random bits, readable only by the owner, so that other users of the machine
 * cannot access a server on loopback.
 */
export async function storedPassword(file: string): Promise<string> {
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (kept !== "") return kept;
  const password = randomBytes(24).toString("base64url");
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return password;
}

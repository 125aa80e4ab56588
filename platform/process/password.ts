import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";

/**
 * The password kept in `file`, made on first use: 192 random bits, readable by the owner only, so that other
 * users of the machine cannot reach a server that listens on loopback.
 */
export async function keptPassword(file: string): Promise<string> {
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (kept !== "") return kept;
  const password = randomBytes(24).toString("base64url");
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return password;
}

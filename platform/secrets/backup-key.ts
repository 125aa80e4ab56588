import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInput } from "../../domain/errors.ts";

/** In the directory of the keys, which is not part of a backup; in a cluster it follows from the Secret `headwater-keys`. */
const backupKeyFile = (directory: string): string => join(directory, "backup.key");

/** 32 bytes, with which backups are sealed. @throws InvalidInput when the file is missing or damaged */
export async function readBackupKey(directory: string): Promise<Buffer> {
  const file = backupKeyFile(directory);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidInput(`the key of backups cannot be read from ${file} (${cause.code}): restore the keys first`, {
      code: "no_keys",
      cause,
    });
  });
  const key = Buffer.from(text.trim(), "base64url");
  if (key.length === 32) return key;
  throw new InvalidInput(`${file} holds no key of backups (43 letters, digits, - or _): put the key back`, { code: "no_keys" });
}

/** Reads the key; creates the file if it does not exist. @throws InvalidInput */
export async function readOrCreateBackupKey(directory: string): Promise<Buffer> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(() => undefined); // Reading reports it.
  const text = `${randomBytes(32).toString("base64url")}\n`;
  // In a cluster the directory is read-only, and the file exists.
  await writeFile(backupKeyFile(directory), text, { mode: 0o600, flag: "wx", flush: true }).catch(() => undefined);
  return readBackupKey(directory);
}

import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { keyHashOf } from "../../api/keys/keys.ts";
import type { User } from "../../api/ports.ts";
import { InvalidInput, Invariant } from "../../domain/errors.ts";
import type { Accounts } from "../../platform/postgres/accounts/index.ts";

const prefixLength = 10;

/** Makes sure that there is the user, and that their API key is in the directory's file. @returns the file's path */
export async function seedFirstUser(accounts: Accounts, user: User, directory: string): Promise<string> {
  const file = join(directory, "api-key");
  const key = (await readKey(file)) ?? (await makeKey(file));
  await accounts.seedUser(user, { hash: keyHashOf(key), prefix: key.slice(0, prefixLength), name: "first key" });
  return file;
}

/** Whatever else stands in the file would become a key that can be guessed. */
const wellFormed = /^hw_[\w-]{43}$/;

async function readKey(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw new InvalidInput(`the API key in ${file} cannot be read: ${cause.message}`, {
      code: "api_key_unreadable",
      cause,
    });
  });
  const key = text?.trim();
  if (key === undefined || wellFormed.test(key)) return key;
  throw new InvalidInput(
    `${file} holds no API key (hw_ and 43 letters, digits, - or _): put the key back, or remove the file and a new one is made`,
    { code: "api_key_damaged" },
  );
}

/** 256 random bits cannot be guessed, so its hash needs no salt and no slowness. Of two made at once, the first one counts. */
async function makeKey(file: string): Promise<string> {
  const made = `${file}.${process.pid}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(made, `hw_${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInput(
      `no API key can be made in ${file} (${why}): put one there, or set HEADWATER_DATA, for setup HEADWATER_KEYS, to a directory that can be written`,
      { code: "api_key_unwritable", cause },
    );
  }
  await link(made, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(made);
  const key = await readKey(file);
  if (key === undefined) throw new Invariant(`${file} was made and is not there`);
  return key;
}

import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InvalidInput, Invariant } from "../../domain/errors.ts";

/** Reads the first user's API key from `<directory>/api-key`; creates the file with a new key if it does not exist. @throws InvalidInput */
export async function readOrCreateApiKey(directory: string): Promise<{ readonly file: string; readonly key: string }> {
  const file = join(directory, "api-key");
  return { file, key: (await readKey(file)) ?? (await createKey(file)) };
}

/** Any other text could be guessed. */
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
    `${file} holds no API key (hw_ and 43 letters, digits, - or _): put the key back, or remove the file and a new one is created`,
    { code: "api_key_damaged" },
  );
}

/** 256 random bits: the hash of such a key needs neither salt nor slowness. Of two processes that create a key at once, the first one wins. */
async function createKey(file: string): Promise<string> {
  const created = `${file}.${process.pid}.new`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(created, `hw_${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInput(
      `no API key can be created in ${file} (${why}): put one there, or set HEADWATER_DATA, for setup HEADWATER_KEYS, to a writable directory`,
      { code: "api_key_unwritable", cause },
    );
  }
  await link(created, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(created);
  const key = await readKey(file);
  if (key === undefined) throw new Invariant(`${file} was created and does not exist`);
  return key;
}

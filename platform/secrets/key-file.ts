import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JWK } from "jose";
import { z } from "zod";
import { Conflict, InvalidInput, Invariant } from "../../domain/errors.ts";

/**
 * A JWK Set (RFC 7517, section 5), mode 0600: the first key seals, all keys open. A rotation prepends a key; remove the old one when
 * nothing is sealed with it.
 */
const keySet = z.object({
  keys: z.array(z.looseObject({ kid: z.string().min(1), kty: z.enum(["oct", "OKP"]) })).min(1),
});
export type KeySet = { readonly keys: readonly (JWK & { readonly kid: string })[] };

export async function readKeys(file: string): Promise<KeySet | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Invariant(`the key file ${file} cannot be read: ${error.code}`, { cause: error });
  });
  return text === undefined ? undefined : parseKeys(file, text);
}

/** Safe for concurrent starts: one process creates the complete file, and all read it. */
export async function readOrCreateKeys(file: string, make: () => Promise<KeySet["keys"][number]>): Promise<KeySet> {
  const existing = await readKeys(file);
  if (existing !== undefined) return existing;
  const draft = await writeDraft(file, { keys: [await make()] });
  try {
    // Unlike a rename, a link never replaces: the first file stays.
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const keys = await readKeys(file);
  if (keys === undefined) throw new Invariant(`the key file ${file} disappeared while it was created`);
  return keys;
}

const lockTimeoutMs = 10_000;

/**
 * Replaces the keys with keys derived from them, one process at a time: otherwise the second of two could remove a key that is already in
 * use. A lock expires if its holder was killed; a slow holder that lost it starts over.
 * @throws Conflict when other processes keep the lock
 */
export async function changeKeys(file: string, change: (keys: KeySet) => Promise<KeySet>): Promise<KeySet> {
  const lock = `${file}.lock`;
  const deadline = Date.now() + 2 * lockTimeoutMs;
  for (;;) {
    const token = await takeLock(lock, deadline);
    try {
      const before = await readKeys(file);
      if (before === undefined) throw new InvalidInput(`the key file ${file} does not exist: start Headwater once, or set HEADWATER_KEYS`);
      const keys = await change(before);
      const draft = await writeDraft(file, keys);
      if ((await holderOf(lock)) === token) {
        await rename(draft, file);
        return keys;
      }
      await rm(draft, { force: true });
    } finally {
      if ((await holderOf(lock)) === token) await rm(lock, { force: true });
    }
  }
}

/** @returns the content of the lock file while it is ours */
async function takeLock(lock: string, deadline: number): Promise<string> {
  const token = `${process.pid} ${randomUUID()}`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const draft = `${lock}.${randomUUID()}`;
  while (Date.now() < deadline) {
    await writeFile(draft, token, { mode: 0o600 });
    try {
      // Unlike a file that is written in place, a link has its complete content at once.
      await link(draft, lock);
      return token;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    } finally {
      await rm(draft, { force: true });
    }
    if (!(await endStale(lock))) await pause(50);
  }
  throw new Conflict(`the keys are being changed by another process: try again, or remove ${lock} if there is none`);
}

/**
 * Removes an expired lock. Another process may have replaced it since it was read: so it is renamed, read again, and restored if it is
 * another one.
 */
async function endStale(lock: string): Promise<boolean> {
  const [made, holder] = [await stat(lock).catch(() => undefined), await holderOf(lock)];
  if (made === undefined || Date.now() - made.mtimeMs <= lockTimeoutMs) return false;
  const renamed = `${lock}.${randomUUID()}.stale`;
  await rename(lock, renamed).catch(() => undefined);
  if ((await holderOf(renamed)) !== holder) await link(renamed, lock).catch(() => undefined);
  await rm(renamed, { force: true });
  return true;
}

const holderOf = (lock: string): Promise<string | undefined> => readFile(lock, "utf8").catch(() => undefined);

async function writeDraft(file: string, keys: KeySet): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(keys)}\n`, { mode: 0o600, flag: "wx" });
  await chmod(draft, 0o600);
  return draft;
}

function parseKeys(file: string, text: string): KeySet {
  try {
    return keySet.parse(JSON.parse(text));
  } catch {
    // Quotes neither the text nor the parser's message: both may contain keys.
    throw new Invariant(`the key file ${file} is damaged: it must be a JWK Set with at least one key`);
  }
}

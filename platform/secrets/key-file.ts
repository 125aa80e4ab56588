import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JWK } from "jose";
import { z } from "zod";
import { Conflict, InvalidInput, Invariant } from "../../domain/errors.ts";

/**
 * A JWK Set (RFC 7517, section 5), mode 0600: the first key seals, all of them open. So a rotation is a key put in front, and
 * the old one leaves when nothing is sealed with it any more.
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

/** Several processes may start at once: one of them makes the file, whole, and all of them read that one. */
export async function readOrMakeKeys(file: string, make: () => Promise<KeySet["keys"][number]>): Promise<KeySet> {
  const there = await readKeys(file);
  if (there !== undefined) return there;
  const draft = await writeDraft(file, { keys: [await make()] });
  try {
    // Unlike a rename, a link never replaces: the first one stays.
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const keys = await readKeys(file);
  if (keys === undefined) throw new Invariant(`the key file ${file} vanished while it was made`);
  return keys;
}

const lockedMs = 10_000;

/**
 * Replaces the keys by others that follow from them, one process at a time: of two that read the same file, the second would
 * otherwise take away a key that something is sealed with by now. Who was killed while it held the lock does not hold it for long;
 * who was only slow, and lost it, starts over.
 * @throws Conflict when others keep at it
 */
export async function changeKeys(file: string, change: (keys: KeySet) => Promise<KeySet>): Promise<KeySet> {
  const lock = `${file}.lock`;
  const deadline = Date.now() + 2 * lockedMs;
  for (;;) {
    const token = await takeLock(lock, deadline);
    try {
      const before = await readKeys(file);
      if (before === undefined) throw new InvalidInput(`there is no key file ${file}: start Headwater once, or set HEADWATER_KEYS`);
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

/** @returns what the file holds as long as the lock is ours */
async function takeLock(lock: string, deadline: number): Promise<string> {
  const token = `${process.pid} ${randomUUID()}`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const draft = `${lock}.${randomUUID()}`;
  while (Date.now() < deadline) {
    await writeFile(draft, token, { mode: 0o600 });
    try {
      // Unlike a file that is written in place, a link is there with all it holds.
      await link(draft, lock);
      return token;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    } finally {
      await rm(draft, { force: true });
    }
    if (!(await endStale(lock))) await pause(50);
  }
  throw new Conflict(`the keys are being changed by another process: try again, or remove ${lock} when there is none`);
}

/**
 * Ends a lock that was held for too long. Between looking and removing, another one may have done so and taken the lock: so it is moved
 * aside, looked at again, and put back when it is not the one that was meant.
 */
async function endStale(lock: string): Promise<boolean> {
  const [made, holder] = [await stat(lock).catch(() => undefined), await holderOf(lock)];
  if (made === undefined || Date.now() - made.mtimeMs <= lockedMs) return false;
  const aside = `${lock}.${randomUUID()}.stale`;
  await rename(lock, aside).catch(() => undefined);
  if ((await holderOf(aside)) !== holder) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
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
    // Neither the text nor the parser's message, which may quote it: both hold the keys.
    throw new Invariant(`the key file ${file} is damaged: it must be a JWK Set with at least one key`);
  }
}

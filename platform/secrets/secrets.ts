import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { InvalidInput, Invariant } from "../../domain/errors.ts";
import type { PoolSecrets, Secrets } from "../../domain/secrets/secrets.ts";
import { algorithms, importKeys, kidOf, openWith, sealWith, type Algorithm, type Keys } from "./jwe.ts";
import { changeKeys, readKeys, readOrCreateKeys, type KeySet } from "./key-file.ts";
import { derivePoolKeys, readMasterKeys } from "./pool-keys.ts";

/**
 * Keys are in one directory: `master.json`, and `pool-<pool>.json` for each pool of runners. Missing files are created. If roles run on
 * several machines, all need the same files; to seal for a pool `pool-<pool>.public.json` is enough.
 */
export const masterFile = (directory: string): string => join(directory, "master.json");
export const poolFile = (directory: string, pool: string): string => join(directory, `pool-${checkPool(pool)}.json`);
export const poolPublicFile = (directory: string, pool: string): string => join(directory, `pool-${checkPool(pool)}.public.json`);

/** Secrets at rest, which can be re-encrypted. */
export interface OwnSecrets extends Secrets {
  /** The text re-encrypted with the newest key; undefined if it already is. @throws InvalidInput for an unknown key */
  reseal(sealed: string): Promise<string | undefined>;
}

/** @param poolKeys `derived` from the master key, as in a cluster, where files are not written; otherwise stored as files */
export async function createSecrets(directory: string, poolKeys: "files" | "derived" = "files"): Promise<OwnSecrets> {
  const master = await keyring(() => readOrCreateKeys(masterFile(directory), newMasterKey), algorithms.atRest);
  const pools = new Map<string, Promise<Keys>>();
  return {
    seal: (text) => sealWith(master.keys, algorithms.atRest, text),
    open: master.open,
    reseal: async (sealed) => {
      const text = await master.open(sealed);
      return kidOf(sealed) === master.keys.newest ? undefined : sealWith(master.keys, algorithms.atRest, text);
    },
    async sealForPool(pool, text) {
      const keys = pools.get(pool) ?? (poolKeys === "files" ? importPool(directory, pool) : importDerived(directory, pool));
      pools.set(pool, keys);
      // Retry next time: the file may exist by then.
      keys.catch(() => pools.delete(pool));
      return sealWith(await keys, algorithms.forPool, text);
    },
  };
}

/** For a runner: `file` is the private JWK Set of its pool. @throws Invariant when it does not exist */
export async function createPoolSecrets(file: string): Promise<PoolSecrets> {
  const read = async (): Promise<KeySet> => {
    const found = await readKeys(file);
    if (found !== undefined) return found;
    throw new Invariant(`the pool's key file ${file} does not exist: start the operator, or mount the pool's Secret there`);
  };
  const { open } = await keyring(read, algorithms.forPool);
  return { open };
}

interface Keyring {
  readonly keys: Keys;
  open(sealed: string): Promise<string>;
}

/** Keys of a file, read again when a text was sealed with a key added since. */
async function keyring(read: () => Promise<KeySet>, algorithm: Algorithm): Promise<Keyring> {
  let keys = await importKeys(await read(), algorithm);
  return {
    get keys() {
      return keys;
    },
    open: async (sealed) => {
      const kid = kidOf(sealed);
      if (kid !== undefined && keys.get(kid) === undefined) keys = await importKeys(await read(), algorithm);
      return openWith(keys, algorithm, sealed);
    },
  };
}

/** Creates the pool's key pair if missing; returns the file for its runners. */
export async function ensurePoolKeys(directory: string, pool: string): Promise<string> {
  const file = poolFile(directory, pool);
  await readOrCreateKeys(file, newPoolKey);
  return file;
}

/**
 * After the next start, everything is sealed with a new key; older texts can still be opened.
 * @returns the number of keys @throws InvalidInput without an existing key
 */
export async function rotateMasterKey(directory: string): Promise<number> {
  const { keys } = await changeKeys(masterFile(directory), async (before) => ({ keys: [await newMasterKey(), ...before.keys] }));
  return keys.length;
}

type Key = KeySet["keys"][number];

async function importPool(directory: string, pool: string): Promise<Keys> {
  const given = await readKeys(poolPublicFile(directory, pool));
  const { keys } = given ?? (await readOrCreateKeys(poolFile(directory, pool), newPoolKey));
  // Sealing needs only the public half; the private half is not kept in memory.
  return importKeys({ keys: keys.map(publicHalf) }, algorithms.forPool);
}

async function importDerived(directory: string, pool: string): Promise<Keys> {
  const { keys } = derivePoolKeys(await readMasterKeys(masterFile(directory)), checkPool(pool));
  return importKeys({ keys: keys.map(publicHalf) }, algorithms.forPool);
}

function publicHalf({ d: _, ...key }: Key): Key {
  return key;
}

async function newMasterKey(): Promise<Key> {
  return { kty: "oct", kid: randomUUID(), k: randomBytes(32).toString("base64url"), alg: "A256GCM", use: "enc" };
}

async function newPoolKey(): Promise<Key> {
  const { privateKey } = await generateKeyPair(algorithms.forPool, { crv: "X25519", extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: algorithms.forPool, use: "enc" };
}

function checkPool(pool: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(pool))
    throw new InvalidInput(`pool '${pool}' is invalid: use at most 63 lower-case letters, digits and dashes`);
  return pool;
}

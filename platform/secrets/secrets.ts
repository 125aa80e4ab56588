import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { InvalidInput, Invariant } from "../../domain/errors.ts";
import type { PoolSecrets, Secrets } from "../../domain/secrets.ts";
import { algorithms, importKeys, kidOf, openWith, sealWith, type Algorithm, type Keys } from "./jwe.ts";
import { changeKeys, readKeys, readOrMakeKeys, type KeySet } from "./key-file.ts";
import { derivePoolKeys, readMasterKeys } from "./pool-keys.ts";

/**
 * Keys lie in one directory: `master.json`, and `pool-<pool>.json` for each pool of runners. Whatever is missing is made; where
 * roles are spread over machines, all of them are given the same files, and a pool's role `pool-<pool>.public.json` is enough to
 * seal for it.
 */
export const masterFile = (directory: string): string => join(directory, "master.json");
export const poolFile = (directory: string, pool: string): string => join(directory, `pool-${checkPool(pool)}.json`);
export const poolPublicFile = (directory: string, pool: string): string => join(directory, `pool-${checkPool(pool)}.public.json`);

/** Who seals at rest can also seal anew. */
export interface OwnSecrets extends Secrets {
  /** The same text, sealed with the newest key; undefined when it is already. @throws InvalidInput when we hold no key for it */
  reseal(sealed: string): Promise<string | undefined>;
}

/** @param poolKeys `derived` from the master key, as in a cluster, where files are not written; else kept as files. */
export async function createSecrets(directory: string, poolKeys: "files" | "derived" = "files"): Promise<OwnSecrets> {
  const master = await keyring(() => readOrMakeKeys(masterFile(directory), newMasterKey), algorithms.atRest);
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
      // A file that cannot be read now may be there next time.
      keys.catch(() => pools.delete(pool));
      return sealWith(await keys, algorithms.forPool, text);
    },
  };
}

/** For a runner: `file` is the private JWK Set of its pool. @throws Invariant when there is none */
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

/** The keys of a file as they were read, and again when something is sealed with one that was added since. */
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

/** Makes the pool's key pair when there is none; returns the file for its runners. */
export async function ensurePoolKeys(directory: string, pool: string): Promise<string> {
  const file = poolFile(directory, pool);
  await readOrMakeKeys(file, newPoolKey);
  return file;
}

/**
 * From the next start on, everything is sealed with a new key; what was sealed before is still opened.
 * @returns how many keys there are now @throws InvalidInput where there is none to follow
 */
export async function rotateMasterKey(directory: string): Promise<number> {
  return rotate(masterFile(directory), newMasterKey);
}

/** The runners' copy must be replaced before anything is sealed for the new key: they hold both. */
export async function rotatePoolKey(directory: string, pool: string): Promise<void> {
  await rotate(poolFile(directory, pool), newPoolKey);
}

type Key = KeySet["keys"][number];

async function rotate(file: string, make: () => Promise<Key>): Promise<number> {
  const { keys } = await changeKeys(file, async (before) => ({ keys: [await make(), ...before.keys] }));
  return keys.length;
}

async function importPool(directory: string, pool: string): Promise<Keys> {
  const given = await readKeys(poolPublicFile(directory, pool));
  const { keys } = given ?? (await readOrMakeKeys(poolFile(directory, pool), newPoolKey));
  // Sealing needs the public half only; the private one does not stay in memory.
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
    throw new InvalidInput(`pool '${pool}' is invalid: a name holds lower-case letters, digits and dashes, at most 63 of them`);
  return pool;
}

import { type CryptoKey, CompactEncrypt, compactDecrypt, decodeProtectedHeader, importJWK } from "jose";
import { InvalidInput, Invariant } from "../../domain/errors.ts";
import type { KeySet } from "./key-file.ts";

/**
 * Compact JWE (RFC 7516). At rest the key is used directly. For a pool a key is agreed on with the pool's public key, so only the pool can
 * open it.
 */
export const algorithms = { atRest: "dir", forPool: "ECDH-ES" } as const;
export type Algorithm = (typeof algorithms)[keyof typeof algorithms];

export type Keys = Pick<ReadonlyMap<string, CryptoKey | Uint8Array>, "get"> & { readonly newest: string };

export async function importKeys({ keys }: KeySet, algorithm: Algorithm): Promise<Keys> {
  const imported = new Map<string, CryptoKey | Uint8Array>();
  for (const key of keys) imported.set(key.kid, await importJWK(key, algorithm === "dir" ? "A256GCM" : algorithm));
  const newest = keys[0]?.kid;
  if (newest === undefined) throw new Invariant("a key set is empty: it must contain at least one key");
  return { get: (kid) => imported.get(kid), newest };
}

export async function sealWith(keys: Keys, algorithm: Algorithm, text: string): Promise<string> {
  const key = keys.get(keys.newest);
  if (key === undefined) throw new Invariant(`the key ${keys.newest} is not in its own set`);
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: algorithm, enc: "A256GCM", kid: keys.newest })
    .encrypt(key);
}

/** @throws InvalidInput without any sealed content */
export async function openWith(keys: Keys, algorithm: Algorithm, sealed: string): Promise<string> {
  const kid = kidOf(sealed);
  const key = kid === undefined ? undefined : keys.get(kid);
  if (key === undefined)
    throw new InvalidInput(`a sealed secret names ${kid === undefined ? "no key" : "an unknown key"}: it must be sealed again`, {
      code: "unknown_key",
    });
  try {
    const { plaintext } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    return new TextDecoder().decode(plaintext);
  } catch {
    throw new InvalidInput("a sealed secret cannot be opened: it was changed since it was sealed, or sealed for another recipient", {
      code: "broken_seal",
    });
  }
}

/** Id of the key it was sealed with; undefined without one, or if it is not a JWE. */
export function kidOf(sealed: string): string | undefined {
  try {
    return decodeProtectedHeader(sealed).kid;
  } catch {
    return undefined;
  }
}

import { createPrivateKey, hash, hkdfSync } from "node:crypto";
import { z } from "zod";
import { Invariant } from "../../domain/errors.ts";
import { readKeys, type KeySet } from "./key-file.ts";

/** PKCS #8 prefix of an X25519 key, before its 32 bytes (RFC 8410). */
const pkcs8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const octets = z.object({ kid: z.string(), k: z.string().min(1) });
const pair = z.object({ kty: z.literal("OKP"), crv: z.literal("X25519"), x: z.string(), d: z.string() });

/**
 * Derives a pool's key pairs from the master keys (HKDF, RFC 5869). They need not be stored, and reveal neither another pool's keys nor the
 * master key. Newest first, like the master keys.
 */
export function derivePoolKeys({ keys }: KeySet, pool: string): KeySet {
  return { keys: keys.map((key) => derive(octets.parse(key), pool)) };
}

function derive({ k, kid }: z.infer<typeof octets>, pool: string): KeySet["keys"][number] {
  const seed = hkdfSync("sha256", Buffer.from(k, "base64url"), kid, `headwater pool ${pool}`, 32);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, Buffer.from(seed)]), format: "der", type: "pkcs8" });
  const { kty, crv, x, d } = pair.parse(key.export({ format: "jwk" }));
  // Named after the public half, so that the name reveals nothing else.
  const name = hash("sha256", x, "base64url").slice(0, 22);
  return { kty, crv, x, d, kid: name, alg: "ECDH-ES", use: "enc" };
}

/** For the operator, which gives each pool its keys. @throws Invariant when the file does not exist */
export async function readMasterKeys(file: string): Promise<KeySet> {
  const keys = await readKeys(file);
  if (keys === undefined) throw new Invariant(`the key file ${file} does not exist: mount the Secret that holds the keys there`);
  return keys;
}

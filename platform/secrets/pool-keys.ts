import { createHash, createPrivateKey, hkdfSync } from "node:crypto";
import { z } from "zod";
import { Invariant } from "../../domain/errors.ts";
import { readKeys, type KeySet } from "./key-file.ts";

/** RFC 8410: a PKCS #8 key of X25519 is this, then its 32 bytes. */
const pkcs8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const octets = z.object({ kid: z.string(), k: z.string().min(1) });
const pair = z.object({ kty: z.literal("OKP"), crv: z.literal("X25519"), x: z.string(), d: z.string() });

/**
 * The key pairs of a pool, from the master keys (HKDF, RFC 5869): the same ones wherever the master keys are, so that they need not
 * be kept anywhere else, and none of them leads to another pool's or to the master key. Newest first, like the master keys.
 */
export function derivePoolKeys({ keys }: KeySet, pool: string): KeySet {
  return { keys: keys.map((key) => derive(octets.parse(key), pool)) };
}

function derive({ k, kid }: z.infer<typeof octets>, pool: string): KeySet["keys"][number] {
  const seed = hkdfSync("sha256", Buffer.from(k, "base64url"), kid, `headwater pool ${pool}`, 32);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, Buffer.from(seed)]), format: "der", type: "pkcs8" });
  const { kty, crv, x, d } = pair.parse(key.export({ format: "jwk" }));
  // Named after the public half, so that the name says neither which master key nor anything else.
  const name = createHash("sha256").update(x).digest("base64url").slice(0, 22);
  return { kty, crv, x, d, kid: name, alg: "ECDH-ES", use: "enc" };
}

/** For the operator, which gives each pool its own. @throws Invariant when there is no such file */
export async function readMasterKeys(file: string): Promise<KeySet> {
  const keys = await readKeys(file);
  if (keys === undefined) throw new Invariant(`the key file ${file} does not exist: mount the Secret that holds the keys there`);
  return keys;
}

import {
  constants,
  createHash,
  createHmac,
  getHashes,
  privateDecrypt,
  privateEncrypt,
  publicDecrypt,
  publicEncrypt,
  sign,
  verify,
} from "node:crypto";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "./arguments.ts";
import type { SyncOperation } from "./context.ts";
import { keyOptions, privateKey, publicKey, secretKey } from "./crypto-keys.ts";

const maxBytes = 64 * 1024 * 1024;
const maxOutputBytes = 1024 * 1024;

const algorithmOf = (value: unknown): string => textArgument(value, "algorithm", 64);
const digestOf = (value: unknown): string | null => (value === null ? null : algorithmOf(value).replace(/^RSA-/i, ""));

const hash: SyncOperation = (_context, [algorithm, data, options]) => {
  const given = options === null || options === undefined ? {} : recordArgument(options, "options");
  const outputLength =
    given["outputLength"] === undefined ? undefined : integerArgument(given["outputLength"], "outputLength", 0, maxOutputBytes);
  const digest = createHash(algorithmOf(algorithm), outputLength === undefined ? undefined : { outputLength });
  return ownedBytes(digest.update(bytesArgument(data, "data", maxBytes)).digest());
};

const rsa: SyncOperation = (_context, [name, key, data]) => {
  const operation = choiceArgument(name, "operation", ["publicEncrypt", "publicDecrypt", "privateEncrypt", "privateDecrypt"]);
  const bytes = bytesArgument(data, "buffer", 4096);
  const options = keyOptions(key);
  if (operation === "publicEncrypt") return ownedBytes(publicEncrypt({ ...options, key: publicKey(key) }, bytes));
  if (operation === "publicDecrypt") return ownedBytes(publicDecrypt({ ...options, key: publicKey(key) }, bytes));
  if (operation === "privateEncrypt") return ownedBytes(privateEncrypt({ ...options, key: privateKey(key) }, bytes));
  return ownedBytes(privateDecrypt({ padding: constants.RSA_PKCS1_OAEP_PADDING, ...options, key: privateKey(key) }, bytes));
};

/** One call a digest or signature: the guest collects the data and sends all of it at the end. */
export const signatureSync: Record<string, SyncOperation> = {
  "crypto.isHash": (_context, [name]) => isHash(algorithmOf(name)),
  "crypto.hash": hash,
  "crypto.hmac": (_context, [algorithm, key, data]) =>
    ownedBytes(
      createHmac(algorithmOf(algorithm), secretKey(key))
        .update(bytesArgument(data, "data", maxBytes))
        .digest(),
    ),
  "crypto.sign": (_context, [algorithm, key, data]) =>
    ownedBytes(sign(digestOf(algorithm), bytesArgument(data, "data", maxBytes), { ...keyOptions(key), key: privateKey(key) })),
  "crypto.verify": (_context, [algorithm, key, data, signature]) =>
    verify(
      digestOf(algorithm),
      bytesArgument(data, "data", maxBytes),
      { ...keyOptions(key), key: publicKey(key) },
      bytesArgument(signature, "signature", 16 * 1024),
    ),
  "crypto.rsa": rsa,
};

function isHash(name: string): boolean {
  if (getHashes().some((known) => known.toLowerCase() === name.toLowerCase())) return true;
  try {
    createHash(name);
    return true;
  } catch {
    return false;
  }
}

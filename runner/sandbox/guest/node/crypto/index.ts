import { sync } from "../../runtime/bridge.ts";
import { toBytes } from "../buffer/bytes.ts";
import { X509Certificate } from "./certificate.ts";
import { Cipheriv, Decipheriv, getCipherInfo } from "./cipher.ts";
import { constants } from "./constants.ts";
import {
  diffieHellman,
  generateKey,
  generateKeyPair,
  generateKeyPairSync,
  generateKeySync,
  hkdf,
  hkdfSync,
  pbkdf2,
  pbkdf2Sync,
  scrypt,
  scryptSync,
} from "./derive.ts";
import { createDiffieHellman, DiffieHellman, ECDH, getDiffieHellman } from "./exchange.ts";
import { Hash, hash, Hmac } from "./hash.ts";
import { createPrivateKey, createPublicKey, createSecretKey, KeyObject } from "./keys.ts";
import { getRandomValues, randomBytes, randomFill, randomFillSync, randomInt, randomUUID } from "./random.ts";
import { privateDecrypt, privateEncrypt, publicDecrypt, publicEncrypt, Sign, sign, Verify, verify } from "./sign.ts";
import { nodeError, unsupportedModule } from "../errors.ts";
import { guest } from "../globals.ts";

// The host's OpenSSL computes; this file has the API's shapes. Limits: runner/sandbox/operations/crypto/index.ts.

function timingSafeEqual(left: unknown, right: unknown): boolean {
  const a = toBytes(left, undefined, "buf1");
  const b = toBytes(right, undefined, "buf2");
  if (a.length !== b.length)
    throw nodeError("ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length", RangeError);
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

const list = (name: "hashes" | "ciphers" | "curves") => (): string[] => (sync("crypto.lists") as Record<typeof name, string[]>)[name];

/** `node:crypto`. */
export default {
  ...unsupportedModule(
    "crypto",
    ["checkPrime", "checkPrimeSync", "generatePrime", "generatePrimeSync"],
    "use an exchange over a named group or curve",
  ),
  ...unsupportedModule("crypto", ["createCipher", "createDecipher"], "use createCipheriv with a key and an initialization vector"),
  ...unsupportedModule(
    "crypto",
    ["argon2", "argon2Sync", "encapsulate", "decapsulate", "setEngine"],
    "use scrypt, or a package in plain JavaScript",
  ),
  createHash: (algorithm: unknown, options?: { outputLength?: number }): Hash => new Hash(algorithm, options),
  createHmac: (algorithm: unknown, key: unknown): Hmac => new Hmac(algorithm, key),
  createSign: (algorithm: unknown): Sign => new Sign(algorithm),
  createVerify: (algorithm: unknown): Verify => new Verify(algorithm),
  createCipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: Record<string, unknown>): Cipheriv =>
    new Cipheriv(algorithm, key, iv, options),
  createDecipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: Record<string, unknown>): Decipheriv =>
    new Decipheriv(algorithm, key, iv, options),
  createECDH: (curve: string): ECDH => new ECDH(curve),
  createDiffieHellmanGroup: getDiffieHellman,
  getHashes: list("hashes"),
  getCiphers: list("ciphers"),
  getCurves: list("curves"),
  getFips: (): number => 0,
  secureHeapUsed: (): object => ({ total: 0, used: 0, utilization: 0, min: 0 }),
  pseudoRandomBytes: randomBytes,
  prng: randomBytes,
  rng: randomBytes,
  Cipheriv,
  constants,
  createDiffieHellman,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  Decipheriv,
  DiffieHellman,
  DiffieHellmanGroup: DiffieHellman,
  diffieHellman,
  ECDH,
  generateKey,
  generateKeyPair,
  generateKeyPairSync,
  generateKeySync,
  getCipherInfo,
  getDiffieHellman,
  getRandomValues,
  Hash,
  hash,
  hkdf,
  hkdfSync,
  Hmac,
  KeyObject,
  pbkdf2,
  pbkdf2Sync,
  privateDecrypt,
  privateEncrypt,
  publicDecrypt,
  publicEncrypt,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  scrypt,
  scryptSync,
  Sign,
  sign,
  timingSafeEqual,
  Verify,
  verify,
  X509Certificate,
  get webcrypto(): object {
    return guest.crypto;
  },
  get subtle(): object {
    return guest.crypto.subtle;
  },
};

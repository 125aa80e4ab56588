import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { fromSeed, type KeyPair } from "@nats-io/nkeys";

/** First bits of a key's text. */
const kinds = { operator: 14, account: 0, user: 20 } as const;
export type KeyKind = keyof typeof kinds;

/** What precedes the seed of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * A key pair that computes with OpenSSL. The library computes in JavaScript, 12 ms of CPU time for a login and a second for the accounts of an
 * installation.
 *
 * @param seed 32 bytes
 */
export function keyPairOf(kind: KeyKind, seed: Uint8Array): KeyPair {
  const role = kinds[kind] << 3;
  const text = withChecksum([(18 << 3) | (role >> 5), (role & 31) << 3, ...seed]);
  return withOpenssl(fromSeed(Buffer.from(text)), role, seed);
}

/** The key pair of a user's seed, such as `SUAM…`. @throws if the seed is damaged */
export function userKeyPair(text: string): KeyPair {
  return withOpenssl(fromSeed(Buffer.from(text)), kinds.user << 3, fromBase32(text).subarray(2, 34));
}

function withOpenssl(pair: KeyPair, role: number, seed: Uint8Array): KeyPair {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  return Object.assign(pair, {
    getPublicKey: () => withChecksum([role, ...publicKey]),
    getPrivateKey: () => Buffer.from(withChecksum([15 << 3, ...seed, ...publicKey])),
    sign: (input: Uint8Array) => sign(null, input, key),
  });
}

/** The bytes and their checksum (CRC-16/XMODEM), in base32. */
function withChecksum(bytes: readonly number[]): string {
  const sum = checksum(bytes);
  return base32([...bytes, sum & 0xff, sum >> 8]);
}

function checksum(bytes: readonly number[]): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x8000) === 0 ? (sum << 1) & 0xffff : ((sum << 1) ^ 0x1021) & 0xffff;
  }
  return sum;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function base32(bytes: readonly number[]): string {
  let [text, value, bits] = ["", 0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of text) {
    value = ((value << 5) | alphabet.indexOf(letter)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

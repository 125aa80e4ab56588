import { createPrivateKey, createPublicKey, hkdfSync, randomBytes, sign } from "node:crypto";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fromSeed, type KeyPair } from "@nats-io/nkeys";
import { InvalidInput } from "../../../domain/errors.ts";

/**
 * Derives every NATS key from one root: 32 random bytes in one file (mode 0600). An account that is created again, even on another machine,
 * is the same account. The root can sign for every role: only the operator and the command that writes credentials may have it.
 */
export interface NatsKeys {
  readonly operator: KeyPair;
  account(name: string): KeyPair;
  user(account: string, name: string): KeyPair;
}

const kinds = { operator: 14, account: 0, user: 20 } as const;

export function natsKeysOf(root: string): NatsKeys {
  const bytes = Buffer.from(root.trim(), "base64url");
  if (bytes.length !== 32) throw new InvalidInput("the root of the NATS keys is damaged: it must be 32 bytes in base64url");
  const derived = (kind: keyof typeof kinds, name: string): KeyPair =>
    keyPairOf(kinds[kind], new Uint8Array(hkdfSync("sha256", bytes, "headwater nats", `${kind} ${name}`, 32)));
  return {
    operator: derived("operator", "headwater"),
    account: (name) => derived("account", name),
    user: (account, name) => derived("user", `${account} ${name}`),
  };
}

/** Its path in the directory of keys. */
export const natsRootFile = (directory: string): string => join(directory, "nats-root");

/** The keys with their root in this directory; undefined if accounts are managed elsewhere. @throws InvalidInput */
export async function findNatsKeys(directory: string): Promise<NatsKeys | undefined> {
  const root = await readRoot(natsRootFile(directory));
  return root === undefined ? undefined : natsKeysOf(root);
}

/**
 * The root stored in the file, created on first use. Safe for concurrent starts: one process creates the complete file, and all read it.
 */
export async function storedNatsRoot(file: string): Promise<string> {
  const kept = await readRoot(file);
  if (kept !== undefined) return kept;
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(draft, { force: true });
  return (await readRoot(file)) ?? "";
}

async function readRoot(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new InvalidInput(`the root of the NATS keys cannot be read from ${file}: ${error.code}`, { cause: error });
  });
}

/** A private key of Ed25519 in PKCS #8 is these bytes and the seed. */
const ed25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The library does its arithmetic in JavaScript, 10 to 50 ms for each public key and signature: Node's takes 0.1 ms. */
function keyPairOf(kind: number, seed: Uint8Array): KeyPair {
  const privateKey = createPrivateKey({ key: Buffer.concat([ed25519, seed]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const publicKey = checkedText([kind << 3, ...Buffer.from(x, "base64url")]);
  return Object.assign(fromSeed(Buffer.from(seedOf(kind, seed))), {
    getPublicKey: () => publicKey,
    sign: (input: Uint8Array) => new Uint8Array(sign(null, input, privateKey)),
  });
}

/** Text form of a seed: two bytes for its type, then the seed. */
function seedOf(kind: number, seed: Uint8Array): string {
  const role = kind << 3;
  return checkedText([(18 << 3) | (role >> 5), (role & 31) << 3, ...seed]);
}

/** The bytes and their checksum (CRC-16/XMODEM) in base32, as all nkeys are written. */
function checkedText(bytes: readonly number[]): string {
  const sum = checksum(Buffer.from(bytes));
  return base32(Buffer.from([...bytes, sum & 0xff, sum >> 8]));
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x8000) === 0 ? (sum << 1) & 0xffff : ((sum << 1) ^ 0x1021) & 0xffff;
  }
  return sum;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function base32(bytes: Uint8Array): string {
  let [text, value, bits] = ["", 0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

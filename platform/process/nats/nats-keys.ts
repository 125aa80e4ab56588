import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { KeyPair } from "@nats-io/nkeys";
import { InvalidInput } from "../../../domain/errors.ts";
import { keyPairOf, type KeyKind } from "../../jetstream/connection/key-pair.ts";

/**
 * Derives every NATS key from one root: 32 random bytes in one file (mode 0600). An account that is created again, even on another machine,
 * is the same account. The root can sign for every role: only the operator and the command that writes credentials may have it.
 */
export interface NatsKeys {
  readonly operator: KeyPair;
  account(name: string): KeyPair;
  user(account: string, name: string): KeyPair;
}

export function natsKeysOf(root: string): NatsKeys {
  const bytes = Buffer.from(root.trim(), "base64url");
  if (bytes.length !== 32) throw new InvalidInput("the root of the NATS keys is damaged: it must be 32 bytes in base64url");
  const derived = (kind: KeyKind, name: string): KeyPair =>
    keyPairOf(kind, new Uint8Array(hkdfSync("sha256", bytes, "headwater nats", `${kind} ${name}`, 32)));
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

import { randomBytes } from "node:crypto";
import { hashOf } from "../../api/http/access/hash.ts";
import type { Sessions, User } from "../../api/http/ports.ts";
import type { Accounts } from "../../platform/postgres/accounts/index.ts";
import { readOrCreateApiKey } from "../../platform/secrets/api-key-file.ts";

const prefixLength = 10;

export interface FirstUser {
  /** Path of the file with the API key. */
  readonly keyFile: string;
  readonly keyHash: string;
}

/** Creates the first user with the API key of the directory's file, unless they exist. */
export async function seedFirstUser(accounts: Accounts, user: User, directory: string): Promise<FirstUser> {
  const { file, key } = await readOrCreateApiKey(directory);
  await accounts.seedUser(user, { hash: hashOf(key), prefix: key.slice(0, prefixLength), name: "first key" });
  return { keyFile: file, keyHash: hashOf(key) };
}

const linkMs = 15 * 60_000;

/** A link that signs in to the console once. Browsers do not send the part behind `#` to servers, so the token reaches no log. */
export async function signInLink(sessions: Sessions, keyHash: string, publicUrl: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const now = Date.now();
  await sessions.startSession({ hash: hashOf(token), keyHash, expiresAt: now + linkMs, isLink: true }, now);
  return `${publicUrl}/sign-in#link=${token}`;
}

import { keyHashOf } from "../../api/http/access/authentication.ts";
import type { User } from "../../api/ports.ts";
import type { Accounts } from "../../platform/postgres/accounts/index.ts";
import { readOrCreateApiKey } from "../../platform/secrets/api-key-file.ts";

const prefixLength = 10;

/** Creates the first user with the API key of the directory's file, unless they exist. @returns the path of the file with the key */
export async function seedFirstUser(accounts: Accounts, user: User, directory: string): Promise<string> {
  const { file, key } = await readOrCreateApiKey(directory);
  await accounts.seedUser(user, { hash: keyHashOf(key), prefix: key.slice(0, prefixLength), name: "first key" });
  return file;
}

import { join } from "node:path";
import { operatorToken, permanentAccounts, systemAccountId, type Pool } from "./nats-accounts.ts";
import type { NatsKeys } from "./nats-keys.ts";

/**
 * Authentication settings of a server's configuration; contains no secrets. Accounts of further pools are sent to the running server
 * (nats-claims.ts), which stores them in `directory`.
 */
export async function authentication(
  keys: NatsKeys,
  pools: readonly Pool[],
  directory: string,
): Promise<Readonly<Record<string, unknown>>> {
  const accounts = await permanentAccounts(keys, pools);
  return {
    operator: await operatorToken(keys),
    system_account: systemAccountId(keys),
    resolver: { type: "full", dir: join(directory, "accounts"), allow_delete: true, interval: "2m", limit: 100_000 },
    resolver_preload: Object.fromEntries(accounts.map(({ id, token }) => [id, token])),
  };
}

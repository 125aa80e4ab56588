import { join } from "node:path";
import { operatorToken, standingAccounts, systemAccountId, type Pool } from "./nats-accounts.ts";
import type { NatsKeys } from "./nats-keys.ts";

/**
 * The part of a server's configuration that says whom it trusts: public, no secret in it. Accounts of further pools are told to the
 * running server (see nats-claims.ts), which keeps them in `directory`.
 */
export async function authentication(
  keys: NatsKeys,
  pools: readonly Pool[],
  directory: string,
): Promise<Readonly<Record<string, unknown>>> {
  const accounts = await standingAccounts(keys, pools);
  return {
    operator: await operatorToken(keys),
    system_account: systemAccountId(keys),
    resolver: { type: "full", dir: join(directory, "accounts"), allow_delete: true, interval: "2m", limit: 100_000 },
    resolver_preload: Object.fromEntries(accounts.map(({ id, token }) => [id, token])),
  };
}

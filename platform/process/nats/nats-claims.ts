import { z } from "zod";
import { Unavailable } from "../../../domain/errors.ts";
import type { Link } from "../../jetstream/connection/link.ts";
import { poolCredentials, poolRemovalToken, poolToken, permanentAccounts, type Pool } from "./nats-accounts.ts";
import type { NatsKeys } from "./nats-keys.ts";
import { undatedTokens } from "./undated-tokens.ts";

const lookupTimeoutMs = 2_000;

/**
 * Updates accounts of a running server. `link` is a connection with the credentials `system`. Requests are idempotent and reach all servers
 * of a cluster. @throws Unavailable
 */
const answer = z.object({
  data: z.object({ code: z.number() }).optional(),
  error: z.object({ description: z.string() }).optional(),
});

/**
 * Registers a pool with the server and returns the text of its runners' credentials file. The same pool has the same account; a new owner
 * replaces its permissions at once.
 */
export async function credentialsForPool(link: Link, keys: NatsKeys, pool: Pool): Promise<string> {
  const { token } = await poolToken(keys, pool);
  await updateClaims(link, "UPDATE", token, `the account of pool '${pool.pool}'`);
  return poolCredentials(keys, pool);
}

/**
 * Removes a pool's account, and with it its runners' connections and credentials. A later pool with the same name has the same account. A
 * server that was down keeps the account and may announce it again.
 */
export async function removePoolAccount(link: Link, keys: NatsKeys, pool: string): Promise<void> {
  await updateClaims(link, "DELETE", await poolRemovalToken(keys, pool), `the end of pool '${pool}'`);
}

/**
 * Updates the permanent accounts to the permissions of this version: the server reads its configuration only at its start. An account
 * that has them is left alone, because an update makes NATS forget the open pull requests of runners: they receive nothing until they
 * notice the silence.
 */
export async function updatePermanentAccounts(link: Link, keys: NatsKeys): Promise<void> {
  for (const { id, token } of await permanentAccounts(keys, []))
    if (!(await hasClaims(link, id, token))) await updateClaims(link, "UPDATE", token, `the rights of account ${id}`);
}

/** False also if the server does not know the account: then it does not answer. */
async function hasClaims(link: Link, account: string, token: string): Promise<boolean> {
  const lookup = link.nats.request(`$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`, "", { timeout: lookupTimeoutMs });
  const current = await lookup.then(
    (message) => message.string(),
    () => "",
  );
  return undatedTokens(current) === undatedTokens(token);
}

async function updateClaims(link: Link, what: "UPDATE" | "DELETE", token: string, of: string): Promise<void> {
  const message = await link.nats.request(`$SYS.REQ.CLAIMS.${what}`, token, { timeout: 5_000 }).catch((cause: unknown) => {
    throw new Unavailable(`NATS did not accept ${of}: it must run with the resolver that auth.conf names`, { cause });
  });
  const { error } = answer.parse(message.json());
  if (error !== undefined) throw new Unavailable(`NATS rejects ${of}: ${error.description}`);
}

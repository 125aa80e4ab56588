import { z } from "zod";
import { Unavailable } from "../../domain/errors.ts";
import type { Link } from "../jetstream/link.ts";
import { poolCredentials, poolRemovalToken, poolToken, standingAccounts, type Pool } from "./nats-accounts.ts";
import type { NatsKeys } from "./nats-keys.ts";

/**
 * What the running server is told of accounts. `link` is a connection with the credentials `system`; everything is safe to repeat, and
 * of several servers each hears it. @throws Unavailable
 */
const answer = z.object({
  data: z.object({ code: z.number() }).optional(),
  error: z.object({ description: z.string() }).optional(),
});

/**
 * Makes a pool known to the server and gives what its runners connect with, the text of a credentials file. The same pool has the same
 * account; another owner replaces what it may read at once.
 */
export async function credentialsForPool(link: Link, keys: NatsKeys, pool: Pool): Promise<string> {
  const { token } = await poolToken(keys, pool);
  await tell(link, "UPDATE", token, `the account of pool '${pool.pool}'`);
  return poolCredentials(keys, pool);
}

/**
 * Ends a pool's account, and with it the connections and credentials of its runners. A pool of the same name made later has the same
 * account again. A server of a cluster that was down keeps it, and may tell the others of it once more.
 */
export async function removePoolAccount(link: Link, keys: NatsKeys, pool: string): Promise<void> {
  await tell(link, "DELETE", await poolRemovalToken(keys, pool), `the end of pool '${pool}'`);
}

/** Brings the accounts that there always are to the rights that this version knows: the server's configuration is read at its start alone. */
export async function updateStandingAccounts(link: Link, keys: NatsKeys): Promise<void> {
  for (const { id, token } of await standingAccounts(keys, [])) await tell(link, "UPDATE", token, `the rights of account ${id}`);
}

async function tell(link: Link, what: "UPDATE" | "DELETE", token: string, of: string): Promise<void> {
  const message = await link.nats.request(`$SYS.REQ.CLAIMS.${what}`, token, { timeout: 5_000 }).catch((cause: unknown) => {
    throw new Unavailable(`the message server was not told of ${of}: it must run with the resolver that auth.conf names`, { cause });
  });
  const { error } = answer.parse(message.json());
  if (error !== undefined) throw new Unavailable(`the message server does not take ${of}: ${error.description}`);
}

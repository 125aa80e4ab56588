import { openLink, type Link } from "../../platform/jetstream/connection/link.ts";
import { systemCredentials } from "../../platform/process/nats/nats-accounts.ts";
import { parseCredentials } from "../../platform/process/nats/nats-connection.ts";
import type { NatsKeys } from "../../platform/process/nats/nats-keys.ts";
import type { RoleContext } from "../context.ts";

/** Tells the message server of accounts, by a connection for this alone: whoever may do so may do anything to it. @throws Unavailable */
export async function asNatsSystem<T>({ nats }: RoleContext, keys: NatsKeys, act: (link: Link) => Promise<T>): Promise<T> {
  const credentials = parseCredentials(await systemCredentials(keys));
  const link = await openLink({ server: { servers: nats.servers, ...credentials }, name: "headwater accounts" });
  try {
    return await act(link);
  } finally {
    await link.close();
  }
}

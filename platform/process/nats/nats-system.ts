import { openLink, type Link } from "../../jetstream/connection/link.ts";
import { systemCredentials } from "./nats-accounts.ts";
import { parseCredentials, type NatsConnection } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";

/** Acts on the accounts of NATS, over a connection for this action only: its user may do anything to the server. @throws Unavailable */
export async function asNatsSystem<T>(nats: NatsConnection, keys: NatsKeys, act: (link: Link) => Promise<T>): Promise<T> {
  const credentials = parseCredentials(await systemCredentials(keys));
  const { servers, tlsFiles } = nats;
  const link = await openLink({
    server: { servers, ...(tlsFiles === undefined ? {} : { tlsFiles }), ...credentials },
    name: "headwater accounts",
  });
  try {
    return await act(link);
  } finally {
    await link.close();
  }
}

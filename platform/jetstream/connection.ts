import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { Unavailable } from "../../domain/errors.ts";
import { openLink, type Link, type LinkOptions } from "./link.ts";
import { Publisher } from "./publisher.ts";

/** What every adapter of this folder works with: one connection, one publisher per process. */
export interface Connection extends Link {
  readonly manager: JetStreamManager;
  readonly publisher: Publisher;
}

/** @throws Unavailable when the server, or JetStream in it, does not answer within `startTimeoutMs` (15 s). */
export async function connect(options: LinkOptions): Promise<Connection> {
  const link = await openLink(options);
  const publisher = new Publisher(link);
  try {
    const manager = await jetstreamManager(link.nats, { timeout: 5_000, checkAPI: false, apiPrefix: link.apiPrefix });
    publisher.start();
    return {
      ...link,
      manager,
      publisher,
      close: async () => {
        publisher.stop();
        await link.close();
      },
    };
  } catch (cause) {
    await link.close();
    throw new Unavailable(`JetStream does not answer at ${options.server.servers}: it must be switched on in the server's configuration`, {
      cause,
    });
  }
}

import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { Unavailable } from "../../../domain/errors.ts";
import { openLink, type Link, type LinkOptions } from "./link.ts";
import { Publisher } from "../write/publisher.ts";

/** What every adapter of this folder works with: one connection, one publisher per process. */
export interface Connection extends Link {
  readonly manager: JetStreamManager;
  readonly publisher: Publisher;
}

export interface ConnectionOptions extends LinkOptions {
  /** How long a change of streams and consumers may take, milliseconds: each is synced to disk. */
  readonly requestTimeoutMs?: number;
}

/** @throws Unavailable when the server, or JetStream in it, does not answer within `startTimeoutMs` (15 s). */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const link = await openLink(options);
  const publisher = new Publisher(link);
  try {
    const manager = await jetstreamManager(link.nats, {
      timeout: options.requestTimeoutMs ?? 5_000,
      checkAPI: false,
      apiPrefix: link.apiPrefix,
    });
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

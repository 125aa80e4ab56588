import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { Unavailable } from "../../../domain/errors.ts";
import { openLink, type Link, type LinkOptions } from "./link.ts";
import { withRepeatedReads } from "./repeated-reads.ts";
import { Publisher } from "./publisher.ts";

/** One connection and one publisher per process, which all adapters of this folder use. */
export interface Connection extends Link {
  readonly manager: JetStreamManager;
  readonly publisher: Publisher;
}

export interface ConnectionOptions extends LinkOptions {
  /** Timeout of a change of streams or consumers, which NATS syncs to disk. */
  readonly requestTimeoutMs?: number;
}

/** @throws Unavailable when NATS, or its JetStream, does not answer within `startTimeoutMs` (15 s) */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const link = await openLink(options);
  const publisher = new Publisher(link);
  try {
    const manager = await jetstreamManager(withRepeatedReads(link.nats), {
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
    throw new Unavailable(`JetStream does not answer at ${options.server.servers}: enable it in the configuration of nats-server`, {
      cause,
    });
  }
}

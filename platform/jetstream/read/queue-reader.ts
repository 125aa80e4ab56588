import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { createOrUpdateConsumer } from "./durable-consumer.ts";
import { Reader } from "./reader.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface QueueOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** Name of the durable consumer. */
  readonly consumer: string;
  /** Creates or updates the consumer. Absent: it must exist. */
  readonly create?: { readonly filter: string; readonly ackWaitMs: number; readonly maxAckPending: number };
  /** Each message must be settled with `ack`, `nak` or `term`; `working` extends its ack wait. */
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  readonly batch?: number;
  /** As in `PullOptions`. */
  readonly maxBytes?: number;
  readonly canPull?: () => boolean;
  readonly expiresMs?: number;
}

export interface QueueReading extends Stoppable {
  /** Requests messages again after `canPull` returned false. */
  resume(): void;
}

/** Reads a work queue with an ack for each message. Several processes may read one consumer: each message goes to one of them. */
export async function readQueue(options: QueueOptions): Promise<QueueReading> {
  const { connection, stream, consumer, create } = options;
  const reader = new Reader({
    connection,
    stream,
    batch: options.batch ?? 200,
    maxBytes: options.maxBytes,
    canPull: options.canPull,
    expiresMs: options.expiresMs,
    onMessage: options.onMessage,
    onInterrupted: options.onInterrupted,
    open: async () => {
      if (create === undefined) await connection.manager.consumers.info(stream, consumer);
      else await createOrUpdateConsumer(connection, stream, queueConsumer(consumer, create));
      return consumer;
    },
  });
  await reader.start();
  return reader;
}

/** Settings of a durable consumer of a work queue. `max_deliver` is unlimited: a reader that gives up terms the message. */
export function queueConsumer(
  name: string,
  options: { readonly filter: string; readonly ackWaitMs: number; readonly maxAckPending: number },
) {
  return {
    durable_name: name,
    filter_subject: options.filter,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(options.ackWaitMs),
    max_ack_pending: options.maxAckPending,
    max_deliver: -1,
  } as const;
}

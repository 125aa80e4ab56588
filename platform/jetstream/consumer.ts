import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { runnerConsumer, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { createOrUpdateConsumer } from "./durable.ts";
import { Reader } from "./reader.ts";
import type { StreamMessage } from "./stream-message.ts";

/** Whatever reads, until stopped; `stop` resolves when no message is handed out any more. */
export interface Reading {
  stop(): Promise<void>;
}

export interface QueueOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** Name of the durable consumer. */
  readonly consumer: string;
  /** Makes the consumer if it is missing; without it, it must exist. */
  readonly create?: { readonly filter: string; readonly ackWaitMs: number; readonly maxAckPending: number };
  /** Each must be settled: `ack`, `nak`, `term`; `working` for a long one. */
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  readonly batch?: number;
  /** As for a pull: bytes that one request may bring, and whether one may be made now. */
  readonly maxBytes?: number;
  readonly mayAsk?: () => boolean;
}

export interface QueueReading extends Reading {
  /** Asks for messages again after `mayAsk` had returned false. */
  resume(): void;
}

/** Reads a work queue with an ack for each message. Several may read one consumer: each message goes to one of them. */
export async function readQueue(options: QueueOptions): Promise<QueueReading> {
  const { connection, stream, consumer, create } = options;
  const reader = new Reader({
    connection,
    stream,
    batch: options.batch ?? 200,
    maxBytes: options.maxBytes,
    mayAsk: options.mayAsk,
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

/** Settings of a durable consumer of a work queue; `max_deliver` is unlimited: who gives up terms it. */
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

export interface PartitionOptions {
  readonly connection: Connection;
  readonly pool: string;
  readonly partition: number;
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** As for a pull: while it returns false nothing more is asked for, until `resume`. Absent: always true. */
  readonly mayAsk?: () => boolean;
  readonly batch?: number;
}

export interface PartitionReading extends Reading {
  /** Messages that are stored and were not handed out, as of the last one that was handed out. */
  unread(): number;
  /** Asks for messages again after `mayAsk` had returned false. */
  resume(): void;
}

/**
 * Reads the invocations of one partition in the order of the stream. Opening, also after the connection broke, resets the consumer: the
 * server then delivers all that is not acked, once. A gap in what it delivers means that a message was lost on its way, or that
 * another reader pulled: then the partition is opened again, before anything behind the gap is handed out.
 */
export async function readPartition({ pool, partition, ...options }: PartitionOptions): Promise<PartitionReading> {
  const { connection, onMessage } = options;
  const consumer = runnerConsumer(pool, partition);
  let unread = Number.POSITIVE_INFINITY;
  let expected = 1;
  const reader = new Reader({
    connection,
    stream: streams.invocations,
    batch: options.batch ?? 200,
    onInterrupted: options.onInterrupted,
    mayAsk: options.mayAsk,
    onMessage: (message) => {
      if (message.deliverySeq !== expected) return reader.restart("a message is missing");
      expected++;
      unread = message.pending;
      onMessage(message);
    },
    open: async () => {
      // The server does not answer a reset of a consumer that does not exist.
      await connection.manager.consumers.info(streams.invocations, consumer);
      const reset = await connection.manager.consumers.reset(streams.invocations, consumer);
      expected = reset.delivered.consumer_seq + 1;
      unread = reset.num_pending;
      return consumer;
    },
  });
  await reader.start();
  return { stop: () => reader.stop(), unread: () => unread, resume: () => reader.resume() };
}

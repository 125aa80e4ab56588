import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { Unavailable } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { createOrUpdateConsumer } from "./durable-consumer.ts";
import { isMissing } from "../connection/missing.ts";
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
  readonly expiresMs?: number;
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
  /** Creates the consumer again. Absent: it must exist. */
  readonly restore?: () => Promise<void>;
}

export interface PartitionReading extends Reading {
  /** Messages that are stored and were not handed out, as of the last one that was handed out. */
  unread(): number;
  /** Asks for messages again after `mayAsk` had returned false. */
  resume(): void;
}

/** A pull request of ours lives this long on the server, see `Pull`. */
const requestsEndMs = 11_000;
const lookAgainMs = 100;

/**
 * Reads the invocations of one partition in the order of the stream. Opening, also after the connection broke, resets the consumer: the
 * server then delivers every message that is stored, once. A gap in what it delivers means that a message was lost on its way, or that
 * another reader pulled: then the partition is opened again, before anything behind the gap is handed out.
 *
 * nats-server 2.15 resets a replicated consumer unsafely while it delivers: a delivery that it proposes between the reset and its quorum
 * stays in the state of the consumer, the messages before it are never recorded as pending, and the next stream leader deletes them
 * although nobody acked them. So a reset waits until no other reader has a pull request there, and the first message is requested alone:
 * the consumer's state must then hold this delivery and no other, else it is reset again.
 */
export async function readPartition({ pool, partition, ...options }: PartitionOptions): Promise<PartitionReading> {
  const { connection, onMessage, mayAsk = () => true } = options;
  const { consumers } = connection.manager;
  const consumer = runnerConsumer(pool, partition);
  let unread = Number.POSITIVE_INFINITY;
  let expected = 1;
  /** Counts resets: what was found out about an earlier one does not matter any more. */
  let opened = 0;
  let state: "unverified" | "verifying" | "verified" | "stopped" = "unverified";
  const reader = new Reader({
    connection,
    stream: streams.invocations,
    batch: () => (state === "verified" ? (options.batch ?? 200) : 1),
    onInterrupted: options.onInterrupted,
    mayAsk: () => state !== "verifying" && mayAsk(),
    onMessage: (message) => {
      if (message.deliverySeq !== expected) return reader.restart("a message is missing");
      expected++;
      unread = message.pending;
      if (state !== "unverified") return onMessage(message);
      state = "verifying";
      void verify(message); // Never rejects.
    },
    open: async () => {
      // NATS does not answer a reset of a consumer that does not exist.
      await consumers.info(streams.invocations, consumer).catch(async (error: unknown) => {
        if (options.restore === undefined || !isMissing(error)) throw error;
        await options.restore();
      });
      await untilNobodyPulls(connection, consumer);
      if (state === "stopped") throw new Unavailable(`reading partition ${partition} of pool '${pool}' has been stopped`);
      // The messages themselves, not the ack floor, say what is left: a server that was killed may have a floor that is too high.
      const reset = await consumers.reset(streams.invocations, consumer, 1);
      opened++;
      state = "unverified";
      expected = reset.delivered.consumer_seq + 1;
      unread = reset.num_pending;
      return consumer;
    },
  });
  const verify = async (message: StreamMessage): Promise<void> => {
    const attempt = opened;
    const info = await consumers.info(streams.invocations, consumer).catch(() => undefined);
    if (attempt !== opened || state !== "verifying") return;
    if (info?.delivered.consumer_seq !== message.deliverySeq || info.delivered.stream_seq !== message.seq)
      return reader.restart("the reset is not verified");
    state = "verified";
    onMessage(message);
    reader.resume();
  };
  await reader.start();
  return {
    stop: () => {
      state = "stopped";
      return reader.stop();
    },
    unread: () => unread,
    resume: () => reader.resume(),
  };
}

/** Resolves at once on a single server, whose resets are safe. An active reader asks again and again: it is not waited for any longer. */
async function untilNobodyPulls({ manager }: Connection, consumer: string): Promise<void> {
  const isUnread = async (): Promise<boolean> => {
    const { cluster, num_waiting } = await manager.consumers.info(streams.invocations, consumer);
    return cluster?.replicas === undefined || num_waiting === 0;
  };
  await waitUntil(isUnread, requestsEndMs, lookAgainMs);
}

import { Unavailable } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMissing } from "../connection/errors.ts";
import type { Stoppable } from "../connection/link.ts";
import { Reader } from "./reader.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface PartitionOptions {
  readonly connection: Connection;
  readonly pool: string;
  readonly partition: number;
  /** `isNew`: it was stored after this reader opened the partition, so that no other reader can have received it. */
  readonly onMessage: (message: StreamMessage, isNew: boolean) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** As in `PullOptions`. */
  readonly canPull?: () => boolean;
  readonly batch?: number;
  /** Creates a missing consumer again. Absent: it must exist. */
  readonly restore?: () => Promise<void>;
}

export interface PartitionReading extends Stoppable {
  /** Number of stored messages that were not handed out, as of the last one that was. */
  unread(): number;
  /** Requests messages again after `canPull` returned false. */
  resume(): void;
}

/** Longer than the life of a pull request, see `Pull`. */
const requestsEndMs = 11_000;
const lookAgainMs = 100;

/**
 * Reads the invocations of one partition in the order of the stream. Opening it, also after a reconnect, resets the consumer: NATS then
 * delivers every stored message once. A gap in the deliveries means that a message was lost in transit, or that another reader pulled: the
 * partition is opened again before a message after the gap is handed out.
 *
 * nats-server 2.15 resets a replicated consumer unsafely while it delivers: a delivery that it proposes between the reset and its quorum
 * stays in the state of the consumer, earlier messages are never recorded as pending, and the next stream leader deletes them although they
 * were not acked. So a reset waits until no other reader has an open pull request, and requests the first message alone: the consumer's
 * state must then hold this delivery and no other, otherwise it is reset again (decision 0052).
 */
export async function readPartition({ pool, partition, ...options }: PartitionOptions): Promise<PartitionReading> {
  const { connection, onMessage, canPull = () => true } = options;
  const { consumers } = connection.manager;
  const consumer = runnerConsumer(pool, partition);
  let unread = Number.POSITIVE_INFINITY;
  let expected = 1;
  /** Delivery sequence of the last message that was stored before the last reset. */
  let lastOld = Number.POSITIVE_INFINITY;
  /** Number of resets: the verification of an earlier reset is void. */
  let opened = 0;
  let state: "unverified" | "verifying" | "verified" | "stopped" = "unverified";
  const reader = new Reader({
    connection,
    stream: streams.invocations,
    batch: () => (state === "verified" ? (options.batch ?? 200) : 1),
    onInterrupted: options.onInterrupted,
    canPull: () => state !== "verifying" && canPull(),
    onMessage: (message) => {
      if (message.deliverySeq !== expected) return reader.restart("a message is missing");
      expected++;
      unread = message.pending;
      if (state !== "unverified") return onMessage(message, message.deliverySeq > lastOld);
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
      // Reset to the first stored message, not to the ack floor, which may be too high after the server was killed.
      const reset = await consumers.reset(streams.invocations, consumer, 1);
      opened++;
      state = "unverified";
      expected = reset.delivered.consumer_seq + 1;
      unread = reset.num_pending;
      lastOld = reset.delivered.consumer_seq + reset.num_pending;
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
    onMessage(message, message.deliverySeq > lastOld);
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

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
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** As for a pull: while it returns false nothing more is asked for, until `resume`. Absent: always true. */
  readonly canPull?: () => boolean;
  readonly batch?: number;
  /** Creates the consumer again. Absent: it must exist. */
  readonly restore?: () => Promise<void>;
}

export interface PartitionReading extends Stoppable {
  /** Messages that are stored and were not handed out, as of the last one that was handed out. */
  unread(): number;
  /** Asks for messages again after `canPull` had returned false. */
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
  const { connection, onMessage, canPull = () => true } = options;
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
    canPull: () => state !== "verifying" && canPull(),
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

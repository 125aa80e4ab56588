import { randomBytes } from "node:crypto";
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { Reader } from "./reader.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface FollowOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** First stream sequence to hand out, or the next one that is stored. */
  readonly from: number | "new";
  readonly filter?: string | readonly string[];
  readonly headersOnly?: boolean;
  /** Begins with the last message of each subject instead of `from`. */
  readonly lastPerSubject?: boolean;
  /** Called once for each message, in the order of the stream. Must not throw. */
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  readonly batch?: number;
  /** As in `PullOptions`. */
  readonly maxBytes?: number;
  readonly canPull?: () => boolean;
  /** Prefix of the names of its consumers. Absent: NATS names them, which needs a permission of its own. */
  readonly namePrefix?: string;
}

export interface Following extends Stoppable {
  /** Resolves once every message that was stored at the start was handed out. */
  readonly caughtUp: Promise<void>;
  /** Requests messages again after `canPull` returned false. */
  resume(): void;
}

/** NATS deletes a consumer that is not read for this time. */
const followerIdleMs = 60_000;

/**
 * Follows a stream from a sequence without acks, in order and without gaps: across reconnects, restarts of NATS, and the loss of its
 * ephemeral consumer, which is created again after the last message that was handed out, or as at first if there was none.
 */
export async function followFrom(options: FollowOptions): Promise<Following> {
  const { connection, stream } = options;
  let next = options.from === "new" ? (await connection.manager.streams.info(stream)).state.last_seq + 1 : options.from;
  let hasBegun = false;
  let consumer: string | undefined;
  let expected = 1;
  let pending = 0;
  const caughtUp = Promise.withResolvers<void>();
  const open = async (): Promise<string> => {
    const fromLast = !hasBegun && options.lastPerSubject === true;
    const info = await connection.manager.consumers.add(stream, followerConsumer(options, fromLast ? undefined : next));
    expected = 1;
    pending = info.num_pending;
    if (pending === 0) caughtUp.resolve();
    return (consumer = info.name);
  };
  const onMessage = (message: StreamMessage): void => {
    // NATS dropped messages in transit: continue after the last one.
    if (message.deliverySeq !== expected) return reader.restart("a message is missing");
    expected++;
    hasBegun = true;
    next = message.seq + 1;
    options.onMessage(message);
    // A message that has expired in the meantime is never handed out, so what NATS reports counts too.
    if (--pending <= 0 || message.pending === 0) caughtUp.resolve();
  };
  const reader = new Reader({
    connection,
    stream,
    batch: options.batch ?? 200,
    maxBytes: options.maxBytes,
    canPull: options.canPull,
    open,
    onMessage,
    onInterrupted: options.onInterrupted,
  });
  await reader.start();
  return {
    caughtUp: caughtUp.promise,
    resume: () => reader.resume(),
    stop: async () => {
      await reader.stop();
      // Otherwise NATS would delete it later.
      if (consumer !== undefined && connection.status() === "connected")
        await connection.manager.consumers.delete(stream, consumer).catch(() => false);
    },
  };
}

/** Without a sequence: the last message of each subject, then new ones. */
function followerConsumer(options: FollowOptions, next: number | undefined) {
  const { filter = ">" } = options;
  return {
    ...(options.namePrefix !== undefined && { name: `${options.namePrefix}-${randomBytes(8).toString("hex")}` }),
    ...(next === undefined
      ? { deliver_policy: DeliverPolicy.LastPerSubject }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, next) }),
    ...(typeof filter === "string" ? { filter_subject: filter } : { filter_subjects: [...filter] }),
    ack_policy: AckPolicy.None,
    mem_storage: true,
    num_replicas: 1,
    max_deliver: 1,
    headers_only: options.headersOnly === true,
    inactive_threshold: nanos(followerIdleMs),
  };
}

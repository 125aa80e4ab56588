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
  /** First stream sequence to hand out; a later one when that is gone already. */
  readonly from: number | "new";
  readonly filter?: string | readonly string[];
  readonly headersOnly?: boolean;
  /** Begin with the last message of each subject instead of `from`. */
  readonly lastPerSubject?: boolean;
  /** In order of the stream, each once. Must not throw. */
  readonly onMessage: (message: StreamMessage) => void;
  readonly onInterrupted?: (reason: string) => void;
  readonly batch?: number;
  /** As for a pull: bytes that one request may bring, and whether one may be made now. */
  readonly maxBytes?: number;
  readonly canPull?: () => boolean;
  /** Its consumers have names of their own that begin so; else the server names them, for whoever may ask it to. */
  readonly namePrefix?: string;
}

export interface Following extends Stoppable {
  /** Messages there were when it began: once that many were handed out, all that comes is new. */
  readonly pendingAtStart: number;
  /** Asks for messages again after `canPull` had returned false. */
  resume(): void;
}

/** A follower that its reader has forgotten is ended by the server after this. */
const followerIdleMs = 60_000;

/**
 * Follows a stream without acks, in order and without gaps, from a sequence on: across a broken connection, a restart of the server
 * and the loss of the consumer, which is ephemeral and made anew behind the last message handed out.
 */
export async function followFrom(options: FollowOptions): Promise<Following> {
  const { connection, stream } = options;
  let next = options.from === "new" ? (await connection.manager.streams.info(stream)).state.last_seq + 1 : options.from;
  let opened: { readonly name: string; readonly pending: number } | undefined;
  let expected = 1;
  const open = async (): Promise<string> => {
    const initial = opened === undefined && options.lastPerSubject === true;
    const info = await connection.manager.consumers.add(stream, followerConsumer(options, initial ? undefined : next));
    expected = 1;
    opened = { name: info.name, pending: opened?.pending ?? info.num_pending };
    return info.name;
  };
  const onMessage = (message: StreamMessage): void => {
    // The server dropped messages on their way to us: begin again behind the last one.
    if (message.deliverySeq !== expected) return reader.restart("a message is missing");
    expected++;
    next = message.seq + 1;
    options.onMessage(message);
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
    pendingAtStart: opened?.pending ?? 0,
    resume: () => reader.resume(),
    stop: async () => {
      await reader.stop();
      // The server would end it by itself, later.
      if (opened !== undefined && connection.status() === "connected")
        await connection.manager.consumers.delete(stream, opened.name).catch(() => false);
    },
  };
}

/** Without a sequence: the last message of each subject, then what comes. */
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

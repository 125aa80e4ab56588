import type { QueueState } from "../../domain/delivery/ordered-queue.ts";
import type { StreamUsage } from "../../domain/limits/stream-share.ts";
import type { Reading } from "../routing/ports.ts";

/**
 * The stream ORDERED, which holds the queues of ordered webhooks, and the bucket LINES, which holds their states. One replica works with
 * them at a time. Writes of a previous one are refused.
 */
export interface QueueStore {
  load(): Promise<StoredQueues>;
  findLast(webhook: string): Promise<QueueMessage | undefined>;
  /** The first message at or after sequence `from`. It may be read from a stream copy that lacks the most recent messages. */
  findNext(webhook: string, from: number): Promise<QueueMessage | undefined>;
  /**
   * Stores a message at the end of the queue and returns its sequence. Returns undefined unless the queue's last message has sequence
   * `after` (0: the queue is empty).
   */
  append(webhook: string, text: string, after: number): Promise<number | undefined>;
  /** Messages that do not exist are ignored. */
  remove(webhook: string, sequences: readonly number[]): Promise<void>;
  removeBefore(webhook: string, sequence: number): Promise<void>;
  /** Stores the state of a queue, unless the stored state is later. @returns the later state */
  saveState(webhook: string, state: QueueState): Promise<QueueState | undefined>;
  /** Size of the stream, which all owners share. Undefined: it has no limit. @throws Unavailable */
  usage(): Promise<StreamUsage | undefined>;
  /** Removes all messages and the state of a queue. */
  deleteQueue(webhook: string): Promise<void>;
}

export interface StoredQueues {
  /** Identity of the stream, which changes when it is deleted and created again. */
  readonly stream: string;
  /** Webhooks whose queues have messages. */
  readonly stored: readonly string[];
  /** States of all queues, also of empty ones. */
  readonly states: ReadonlyMap<string, QueueState>;
}

export interface QueueMessage {
  readonly seq: number;
  readonly text: string;
}

/** Requests to the one replica that posts to ordered webhooks. */
export interface OrderedRequests {
  serve(queues: OrderedQueueAccess): Promise<Reading>;
  /** @throws Unavailable when no replica answers in time */
  readonly remote: OrderedQueueAccess;
}

export interface OrderedQueueAccess {
  /** Resolves once the delivery, given as JSON text, is stored at the end of the webhook's queue. */
  append(webhook: string, delivery: string): Promise<void>;
  /** Makes the next attempt now if the delivery is the head of its queue and waits for that attempt; false if it is not. */
  attemptNow(webhook: string, delivery: string): Promise<boolean>;
}

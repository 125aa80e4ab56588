import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../domain/log.ts";
import type { Deliveries } from "../attempts/ports.ts";
import type { Reading, Replicas } from "../routing/ports.ts";

/** What a queue reaches. */
export interface OrderedQueuePorts {
  readonly queueStore: QueueStore;
  readonly deliveries: Pick<Deliveries, "findScheduled">;
  readonly replicas: Pick<Replicas, "isCurrent">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
}

/** Names the queue of one source's events for one ordered webhook. */
export interface QueueKey {
  /** Of the source. */
  readonly partition: number;
  readonly webhook: string;
  readonly source: string;
}

/** The queues in the stream DELIVERIES. The replica that holds the partition of the source writes to them. Reads are those of the leader. */
export interface QueueStore {
  /** The queues of a partition that are not empty. */
  list(partition: number): Promise<readonly QueueKey[]>;
  /** The first batch at or after sequence `from`. */
  findNext(key: QueueKey, from: number): Promise<StoredBatch | undefined>;
  findLast(key: QueueKey): Promise<StoredBatch | undefined>;
  /**
   * Stores a batch of `count` deliveries at the end of the queue and returns its sequence. Returns undefined unless the queue's last batch
   * has sequence `after` (0: the queue is empty).
   */
  append(key: QueueKey, text: string, count: number, after: number): Promise<number | undefined>;
  /** A batch that does not exist is ignored. */
  remove(sequence: number): Promise<void>;
  /** Removes the queues of a webhook in a partition. */
  removeAll(partition: number, webhook: string): Promise<void>;
  /** Ids of the webhook's deliveries that are scheduled or due. */
  listScheduled(webhook: string): Promise<ReadonlySet<string>>;
}

export interface StoredBatch {
  readonly seq: number;
  readonly text: string;
}

/** Requests to the replica that holds a partition. */
export interface OrderedRequests {
  serve(partition: number, access: OrderedAccess): Promise<Reading>;
  /** Access to a partition of another replica. Its methods throw Unavailable when no replica answers in time. */
  remote(partition: number): OrderedAccess;
}

/** Deliveries are JSON text. */
export interface OrderedAccess {
  /** Delivers an event that belongs to no commit, after earlier ones of its source. Resolves once it is delivered or stored. */
  append(delivery: string): Promise<void>;
  /** Attempts the first delivery of a queue, which is due. Resolves once its message can be acked. */
  attempt(delivery: string): Promise<void>;
}

/** The stream ORDERED, in which an earlier version stored one queue for each webhook. */
export interface FormerQueues {
  /** The first message. Undefined: there is none. */
  next(): Promise<FormerBatch | undefined>;
}

export interface FormerBatch {
  /** Those that are not done, each as JSON text. */
  readonly deliveries: readonly string[];
  remove(): Promise<void>;
}

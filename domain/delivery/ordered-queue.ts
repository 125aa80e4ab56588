import type { CommitPosition } from "../source/deployment.ts";

/**
 * The queue of an ordered webhook: its deliveries in the order of commits, numbered from 1. They are stored in batches: a batch has the
 * deliveries that were routed while the one before was being stored. `upTo`, the last commit whose deliveries the queue has completely,
 * shows which commits were routed twice.
 */
export interface DeliveryBatch<Delivery> {
  readonly deliveries: readonly Delivery[];
  /** Number of the last delivery. */
  readonly number: number;
  /** Bytes of the deliveries of this batch and of all before it, also of those that are done. Absent: unknown. */
  readonly bytes?: number;
  /** Absent: none. */
  readonly upTo?: CommitPosition;
}

/** End of a queue. */
export interface QueueTail {
  /** Sequence of the last message; 0 if none is stored. */
  readonly seq: number;
  /** Number of the last delivery. */
  readonly number: number;
  /** Bytes of all deliveries that were ever stored. */
  readonly bytes: number;
  readonly upTo?: CommitPosition;
}

/** How far a queue has been delivered. A crash may lose the latest change: the deliveries after it are then repeated, in the same order. */
export interface QueueState {
  /** Identity of the stream, because sequences start again in a stream that was created again. */
  readonly stream: string;
  /** Sequence of the current message: all messages before it are done. */
  readonly seq: number;
  /** Deliveries of the current message that are done. */
  readonly done: number;
  /** Number of the last delivery that is done. */
  readonly number: number;
  /** Bytes of all messages that are done. Absent: none, or written by a version that did not count them. */
  readonly bytes?: number;
  /** Last commit whose deliveries are all done, for a queue without stored messages. */
  readonly upTo?: CommitPosition;
  /** The next delivery, if it has been attempted. */
  readonly failing?: FailingHead;
}

/** The head of a queue while it waits for its next attempt. */
export interface FailingHead {
  readonly delivery: string;
  /** Number of the next attempt. */
  readonly attempt: number;
  /** Epoch ms of the next attempt. */
  readonly atMs: number;
}

export const newQueueState = (stream: string): QueueState => ({ stream, seq: 1, done: 0, number: 0 });

/** Deliveries of one commit, or one of a replay, that wait to be stored. */
export interface WaitingDeliveries {
  /** Bytes of each. */
  readonly sizes: readonly number[];
  readonly position?: CommitPosition | undefined;
}

export interface BatchPlan {
  /** Number of deliveries to take from each of the first waiting entries. */
  readonly counts: readonly number[];
  readonly upTo: CommitPosition | undefined;
}

export interface BatchLimits {
  readonly deliveries: number;
  readonly bytes: number;
}

/** Plans the next batch: as many deliveries as fit, in order, and at least one. `upTo` is the last commit that is complete with it. */
export function planBatch(waiting: readonly WaitingDeliveries[], before: CommitPosition | undefined, limits: BatchLimits): BatchPlan {
  const counts: number[] = [];
  let [upTo, deliveries, bytes] = [before, 0, 0];
  for (const { sizes, position } of waiting) {
    let count = 0;
    for (const size of sizes) {
      if (deliveries > 0 && (deliveries >= limits.deliveries || bytes + size > limits.bytes)) break;
      count++;
      deliveries++;
      bytes += size;
    }
    if (count > 0 || sizes.length === 0) counts.push(count);
    if (count < sizes.length) break;
    upTo = position ?? upTo;
  }
  return { counts, upTo };
}

/** Whether the queue has all deliveries of the commit. */
export function containsCommit({ upTo }: Pick<QueueTail, "upTo">, position: CommitPosition | undefined): boolean {
  return position !== undefined && upTo?.stream === position.stream && position.seq <= upTo.seq;
}

/** Whether `one` is a later state of the same queue than `other`. */
export const isLaterState = (one: QueueState, other: QueueState): boolean =>
  one.stream === other.stream && (one.seq > other.seq || (one.seq === other.seq && one.done > other.done));

/** Index of the next delivery in the batch with sequence `seq`. */
export const nextIndex = (state: QueueState, seq: number): number => (seq === state.seq ? state.done : 0);

/** The state once the delivery at `index` is done. */
export function stateAfterDone(state: QueueState, seq: number, batch: DeliveryBatch<unknown>, index: number): QueueState {
  const { stream } = state;
  const number = batch.number - batch.deliveries.length + index + 1;
  if (index + 1 < batch.deliveries.length) return { stream, seq, done: index + 1, number, ...bytesOf(state), ...upToOf(state) };
  const bytes = batch.bytes === undefined ? bytesOf(state) : bytesOf(batch);
  return { stream, seq: seq + 1, done: 0, number: batch.number, ...bytes, ...upToOf(batch) };
}

/** The state while the delivery at `index` waits for another attempt. */
export function stateAfterFailure(
  state: QueueState,
  seq: number,
  batch: DeliveryBatch<unknown>,
  index: number,
  failing: FailingHead,
): QueueState {
  const number = batch.number - batch.deliveries.length + index;
  return { stream: state.stream, seq, done: index, number, ...bytesOf(state), ...upToOf(state), failing };
}

const bytesOf = ({ bytes }: { readonly bytes?: number }): { readonly bytes?: number } => (bytes === undefined ? {} : { bytes });

const upToOf = ({ upTo }: { readonly upTo?: CommitPosition | undefined }): { readonly upTo?: CommitPosition } =>
  upTo === undefined ? {} : { upTo };

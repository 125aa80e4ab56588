import type { CommitPosition } from "../source/deployment.ts";

/**
 * The line of an ordered webhook: its deliveries in the order of commits, numbered from 1. They lie in messages, each a pack of some
 * that were routed while the one before was being stored. What was routed twice is told by the commit up to which the line has all.
 */
export interface DeliveryBatch<Delivery> {
  readonly deliveries: readonly Delivery[];
  /** Of the last of them. */
  readonly number: number;
  /** The last commit of which the line has all with this pack; absent: none. */
  readonly upTo?: CommitPosition;
}

/** Where a line ends. */
export interface QueueTail {
  /** Sequence of its last message; 0: nothing is stored. */
  readonly seq: number;
  readonly number: number;
  readonly upTo?: CommitPosition;
}

/** How far a line has come. A crash may lose the latest of it: then what came after is attempted again, in the same order. */
export interface QueueState {
  /** Tells the stream from another of its name: one that was made anew counts from 1 again. */
  readonly stream: string;
  /** Messages before this one are done, and of this one so many deliveries. */
  readonly seq: number;
  readonly done: number;
  /** Of the last delivery that is done. */
  readonly number: number;
  /** The last commit of which all is done, for when nothing is stored that tells of it. */
  readonly upTo?: CommitPosition;
  /** The next delivery, when it was attempted already, and when it is again, epoch ms. */
  readonly failing?: FailingHead;
}

export interface FailingHead {
  readonly delivery: string;
  /** Of the next attempt. */
  readonly attempt: number;
  readonly atMs: number;
}

export const newQueueState = (stream: string): QueueState => ({ stream, seq: 1, done: 0, number: 0 });

/** What waits to be stored: deliveries of one commit, or one of a replay, by their sizes in bytes. */
export interface ToStore {
  readonly sizes: readonly number[];
  readonly position?: CommitPosition | undefined;
}

export interface PackPlan {
  /** How many of each of the first that wait. */
  readonly counts: readonly number[];
  readonly upTo: CommitPosition | undefined;
}

export interface PackLimits {
  readonly deliveries: number;
  readonly bytes: number;
}

/** What the next pack holds: as much as fits, in order, and one delivery at least. A commit whose last delivery it has is told of. */
export function planPack(waiting: readonly ToStore[], before: CommitPosition | undefined, limits: PackLimits): PackPlan {
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

/** Whether a line that ends so has all of a commit. */
export function hasCommit({ upTo }: Pick<QueueTail, "upTo">, position: CommitPosition | undefined): boolean {
  return position !== undefined && upTo?.stream === position.stream && position.seq <= upTo.seq;
}

/** Whether one state of a line is ahead of another. */
export const isLaterState = (one: QueueState, other: QueueState): boolean =>
  one.stream === other.stream && (one.seq > other.seq || (one.seq === other.seq && one.done > other.done));

/** Which of a pack's deliveries is next. */
export const nextIn = (state: QueueState, seq: number): number => (seq === state.seq ? state.done : 0);

/** After the delivery with that index is done. */
export function passed(state: QueueState, seq: number, pack: DeliveryBatch<unknown>, index: number): QueueState {
  const { stream } = state;
  const number = pack.number - pack.deliveries.length + index + 1;
  if (index + 1 < pack.deliveries.length) return { stream, seq, done: index + 1, number, ...upToOf(state) };
  return { stream, seq: seq + 1, done: 0, number: pack.number, ...upToOf(pack) };
}

/** The delivery with that index is to be attempted again. */
export function failed(state: QueueState, seq: number, pack: DeliveryBatch<unknown>, index: number, failing: FailingHead): QueueState {
  const number = pack.number - pack.deliveries.length + index;
  return { stream: state.stream, seq, done: index, number, ...upToOf(state), failing };
}

const upToOf = ({ upTo }: { readonly upTo?: CommitPosition | undefined }): { readonly upTo?: CommitPosition } =>
  upTo === undefined ? {} : { upTo };

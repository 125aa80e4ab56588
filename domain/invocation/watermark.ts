import type { Invocation, InvocationNumber } from "./invocation.ts";

/** A position in the queue of one pool, with the time at which the message there was stored. */
export interface QueuePosition extends InvocationNumber {
  readonly pool: string;
  /** Epoch ms. */
  readonly storedAt: number;
}

/** The last position of a queue that a source has committed. */
export interface Watermark extends InvocationNumber {
  /** Epoch ms; the latest of all positions up to this one. */
  readonly storedAt: number;
  /** Epoch ms. */
  readonly committedAt: number;
}

/**
 * How far a source has come in each queue that holds, or held, its invocations. Within one queue a source's invocations are delivered
 * and committed in order, so one position stands for all before it (decision 0011). The keys:
 *
 * | key | of |
 * |---|---|
 * | `<pool>` | invocations in that pool's queue |
 * | `<pool>/hooks` | hooks there: they may run before what waits |
 * | `<pool>/moved` | invocations that were moved from that pool's queue to another, by their position in the first |
 */
export type Watermarks = Readonly<Record<string, Watermark>>;

/** Where an invocation stands, and where it stood before its source moved here. */
export interface Positioned {
  readonly invocation: Pick<Invocation, "trigger" | "movedFrom">;
  readonly position: QueuePosition;
}

/** A source that has moved between more pools than this has nothing left in the first of them. */
const maxQueues = 12;

/** Whether a commit of the source has answered the invocation. */
export function isCommitted(watermarks: Watermarks = {}, { invocation, position }: Positioned): boolean {
  const { movedFrom } = invocation;
  if (isUpTo(position, watermarks[keyOf(position, invocation)])) return true;
  if (movedFrom === undefined) return false;
  if (isUpTo(movedFrom, watermarks[movedKey(movedFrom)])) return true;
  const before = watermarks[keyOf(movedFrom, invocation)];
  if (before === undefined || !isUpTo(movedFrom, before)) return false;
  // It was committed in that pool: before it was moved, or by a run that was under way then. What the pool committed later was in another
  // stay of the source there, and says nothing of what was moved before.
  return before.committedAt < position.storedAt || compare(movedFrom, before) === 0;
}

/** The watermarks after a commit for the invocation. @param now epoch ms */
export function raiseWatermarks(watermarks: Watermarks = {}, { invocation, position }: Positioned, now: number): Watermarks {
  const { movedFrom } = invocation;
  const marks = new Map(Object.entries(watermarks));
  const raise = (key: string, { seq, index, storedAt }: QueuePosition): void => {
    const mark = marks.get(key);
    marks.delete(key); // The ones committed to lately are last.
    // The server's clock may have stepped back. A lower position is of a stream that was recreated.
    const isHigher = mark !== undefined && compare(mark, { seq, index }) < 0;
    marks.set(key, { seq, index, storedAt: isHigher ? Math.max(mark.storedAt, storedAt) : storedAt, committedAt: now });
  };
  if (movedFrom !== undefined) raise(movedKey(movedFrom), movedFrom);
  raise(keyOf(position, invocation), position);
  return Object.fromEntries([...marks].slice(-maxQueues));
}

/** A stream that was recreated counts from 1 again: what it stored after the watermark is new, whatever its sequence. */
const isUpTo = (position: QueuePosition, mark: Watermark | undefined): boolean =>
  mark !== undefined && position.storedAt <= mark.storedAt && compare(position, mark) <= 0;

/** No pool's name contains a slash. */
const keyOf = ({ pool }: QueuePosition, { trigger }: Pick<Invocation, "trigger">): string => (trigger === "hook" ? `${pool}/hooks` : pool);
const movedKey = ({ pool }: QueuePosition): string => `${pool}/moved`;

const compare = (a: InvocationNumber, b: InvocationNumber): number => a.seq - b.seq || a.index - b.index;

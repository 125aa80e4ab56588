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
 * The last committed position of a source in each queue that has, or had, its invocations. Within one queue a source's invocations are
 * delivered and committed in order, so one position stands for all before it (decision 0011). The keys:
 *
 * | key | position of |
 * |---|---|
 * | `<pool>` | invocations in the queue of that pool |
 * | `<pool>/hooks` | hooks in that queue, which may run before other invocations |
 * | `<pool>/moved` | invocations that were moved from that queue to another, by their position in that queue |
 */
export type Watermarks = Readonly<Record<string, Watermark>>;

/** An invocation with its position, and its former position if its source moved here from another pool. */
export interface Positioned {
  readonly invocation: Pick<Invocation, "trigger" | "movedFrom">;
  readonly position: QueuePosition;
}

/** A source that has moved between more pools than this has no invocations left in the first of them. */
const maxQueues = 12;

/** Whether the source has a commit for the invocation. */
export function isCommitted(watermarks: Watermarks = {}, { invocation, position }: Positioned): boolean {
  const { movedFrom } = invocation;
  if (isUpTo(position, watermarks[keyOf(position, invocation)])) return true;
  if (movedFrom === undefined) return false;
  if (isUpTo(movedFrom, watermarks[movedKey(movedFrom)])) return true;
  const before = watermarks[keyOf(movedFrom, invocation)];
  if (before === undefined || !isUpTo(movedFrom, before)) return false;
  // It was committed in that pool before it was moved, or by a run that was in progress then. Later commits in that pool belong to another
  // stay of the source there.
  return before.committedAt < position.storedAt || compare(movedFrom, before) === 0;
}

/** The watermarks after a commit for the invocation. @param now epoch ms */
export function raiseWatermarks(watermarks: Watermarks = {}, { invocation, position }: Positioned, now: number): Watermarks {
  const { movedFrom } = invocation;
  const marks = new Map(Object.entries(watermarks));
  const raise = (key: string, { seq, index, storedAt }: QueuePosition): void => {
    const mark = marks.get(key);
    marks.delete(key); // Keeps the most recently committed ones last.
    // The clock of NATS may have stepped back. A lower position belongs to a recreated stream.
    const isHigher = mark !== undefined && compare(mark, { seq, index }) < 0;
    marks.set(key, { seq, index, storedAt: isHigher ? Math.max(mark.storedAt, storedAt) : storedAt, committedAt: now });
  };
  if (movedFrom !== undefined) raise(movedKey(movedFrom), movedFrom);
  raise(keyOf(position, invocation), position);
  return Object.fromEntries([...marks].slice(-maxQueues));
}

/** A recreated stream starts at sequence 1: a message stored after the watermark is new, whatever its sequence. */
const isUpTo = (position: QueuePosition, mark: Watermark | undefined): boolean =>
  mark !== undefined && position.storedAt <= mark.storedAt && compare(position, mark) <= 0;

/** Names of pools contain no slash. */
const keyOf = ({ pool }: QueuePosition, { trigger }: Pick<Invocation, "trigger">): string => (trigger === "hook" ? `${pool}/hooks` : pool);
const movedKey = ({ pool }: QueuePosition): string => `${pool}/moved`;

const compare = (a: InvocationNumber, b: InvocationNumber): number => a.seq - b.seq || a.index - b.index;

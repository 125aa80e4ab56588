import type { Answered } from "./commit.ts";
import type { InvocationNumber } from "./invocation.ts";

/**
 * Which invocations a source's history has answered, so that a message delivered again after a crash between commit and ack is
 * not run again. The invocations of one pack are mostly run in ascending order of index, so its highest answered index stands for all
 * before it but those noted as open: one may have been given back, or may be on its way to another pool. Of a pack the indexes below
 * 48 are noted; ours are shorter.
 */
export function isAnswered(answered: Answered, number: InvocationNumber): boolean {
  const entry = answered[position(answered, number.seq)];
  if (entry === undefined || entry[0] !== number.seq || number.index > entry[1]) return false;
  return number.index >= mostNoted || !hasBit(entry[2] ?? 0, number.index);
}

export function answer(answered: Answered, { seq, index }: InvocationNumber): Answered {
  const at = position(answered, seq);
  const entry = answered[at];
  if (entry?.[0] !== seq) return answered.toSpliced(at, 0, entryOf(seq, index, bits(0, index)));
  const [, highest, open = 0] = entry;
  if (index > highest) return answered.with(at, entryOf(seq, index, open + bits(highest + 1, index)));
  return index < mostNoted && hasBit(open, index) ? answered.with(at, entryOf(seq, highest, open - 2 ** index)) : answered;
}

const mostNoted = 48;
const entryOf = (seq: number, index: number, open: number): Answered[number] => (open === 0 ? [seq, index] : [seq, index, open]);
/** More than 32 of them: not for bit operators, which know 32. */
const hasBit = (set: number, bit: number): boolean => Math.floor(set / 2 ** bit) % 2 === 1;
/** From `first` to before `end`. */
const bits = (first: number, end: number): number => 2 ** Math.min(Math.max(first, end), mostNoted) - 2 ** Math.min(first, mostNoted);

/** Drops the messages that cannot come again, since they are acked or deleted; what remains is as short as the work in flight. */
export function forget(answered: Answered, isSettled: (seq: number) => boolean): Answered {
  return answered.filter(([seq]) => !isSettled(seq));
}

/** Index of the first pair whose sequence is not below `seq`. Most often that is the end: new messages have higher numbers. */
function position(answered: Answered, seq: number): number {
  let [low, high] = [0, answered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const pair = answered[middle];
    if (pair !== undefined && pair[0] < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

import type { InvocationNumber } from "../domain/invocation.ts";

/** How long after its time a message that was given back may still come; then somebody else was given it. */
const graceMs = 15_000;
/** Sooner than that it is not worth the way. */
const leastDelayMs = 200;
/** Well below the time for which a history remembers what it has answered of a message that is not settled. */
const mostDelayMs = 40_000;

interface Entry {
  readonly key: number;
  /** Infinity until it has left. */
  dueAt: number;
}

export interface Wait {
  readonly here: number;
  readonly paceMs: number;
  readonly busyMs: number;
}

/**
 * The invocations of one source that are given back to the stream, until they come again. Those behind them have to be given back
 * too, or they would overtake. Each leaves when its whole message does, and is told to come well before its turn.
 */
export class GivenBack {
  /** Ascending by key. */
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Whether one that stood before this one is still on its way. */
  hasBefore(number: InvocationNumber, now: number): boolean {
    this.#forget(now);
    const [first] = this.#entries;
    return first !== undefined && first.key < keyOf(number);
  }

  /** Whether it is one of them. */
  has(number: InvocationNumber): boolean {
    return this.#entries[this.#position(keyOf(number))]?.key === keyOf(number);
  }

  /** Whether none is to come any more. */
  isOver(now: number): boolean {
    this.#forget(now);
    return this.#entries.length === 0;
  }

  /** It has no place here, and will leave. */
  add(number: InvocationNumber): void {
    const key = keyOf(number);
    const at = this.#position(key);
    const known = this.#entries[at]?.key === key;
    this.#entries.splice(at, known ? 1 : 0, { key, dueAt: Infinity });
  }

  /**
   * It leaves now.
   *
   * @param wait.here how many are before it that did not have to leave
   * @param wait.busyMs how long that already takes which is under way
   * @returns for how long, whole ms: half the time until its turn. Whatever comes too early is given back once more; what comes too
   *   late has kept its source from running.
   */
  leave(number: InvocationNumber, { here, paceMs, busyMs }: Wait, now: number): number {
    const key = keyOf(number);
    const at = this.#position(key);
    const turnMs = (here + at) * paceMs + busyMs;
    const delayMs = Math.round(Math.min(mostDelayMs, Math.max(leastDelayMs, turnMs / 2)));
    const entry = this.#entries[at];
    if (entry?.key === key) entry.dueAt = now + delayMs;
    return delayMs;
  }

  /** It has come again, and stays or is done. */
  remove(number: InvocationNumber): void {
    const at = this.#position(keyOf(number));
    if (this.#entries[at]?.key === keyOf(number)) this.#entries.splice(at, 1);
  }

  /** What is long overdue went to another runner, or is gone. */
  #forget(now: number): void {
    while ((this.#entries[0]?.dueAt ?? Infinity) + graceMs < now) this.#entries.shift();
  }

  /** Index of the first entry whose key is not below. */
  #position(key: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.key ?? Infinity) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Packs have far fewer invocations than 4096, and streams fewer messages than 2^41. */
const keyOf = ({ seq, index }: InvocationNumber): number => seq * 4096 + index;

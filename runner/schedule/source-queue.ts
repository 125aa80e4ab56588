import { dueAtOf, mostSkippedTold } from "../../domain/schedule/ticks.ts";
import { isAwaited, isPlainTick, isUrgent, type Waiting } from "./disposition.ts";

/** The invocations of one source, in order of arrival: urgent ones, and the others. Hooks have a watermark of their own, so they may run first. */
export class SourceQueue {
  readonly source: string;
  /** Undefined until it is known. */
  owner: string | undefined;
  running: Waiting | undefined;
  /** While the invocation that failed waits to run again. */
  retry: NodeJS.Timeout | undefined;
  /** Invocations that wait until the owner is known. */
  readonly arriving: Waiting[] = [];
  readonly #urgent: Waiting[] = [];
  readonly #others: Waiting[] = [];
  #awaited = 0;
  #skippedTicks = 0;
  /** Epoch ms at which the last of them were due. */
  #skippedDue: number[] = [];

  constructor(source: string) {
    this.source = source;
  }

  get length(): number {
    return this.#urgent.length + this.#others.length;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  /**
   * Adds an invocation, but skips a tick while another one waits: a source slower than its timer would fall behind forever.
   *
   * @returns false when it was skipped
   */
  add(entry: Waiting): boolean {
    if (isPlainTick(entry) && this.#others.some(isPlainTick)) {
      this.#skippedTicks++;
      this.#skippedDue = [...this.#skippedDue, dueAtOf(entry.received.invocation, entry.received.storedAt)].slice(-mostSkippedTold);
      return false;
    }
    if (isAwaited(entry)) this.#awaited++;
    (isUrgent(entry) ? this.#urgent : this.#others).push(entry);
    return true;
  }

  /** Removes the invocation that runs next. @param urgentOnly the owner is blocked */
  take(urgentOnly: boolean): Waiting | undefined {
    const entry = this.#urgent.shift() ?? (urgentOnly ? undefined : this.#others.shift());
    if (entry !== undefined && isAwaited(entry)) this.#awaited--;
    return entry;
  }

  /** Returns an invocation that failed to its place. */
  putBack(entry: Waiting): void {
    if (isAwaited(entry)) this.#awaited++;
    (isUrgent(entry) ? this.#urgent : this.#others).unshift(entry);
  }

  takeAll(): readonly Waiting[] {
    this.#awaited = 0;
    return [...this.#urgent.splice(0), ...this.#others.splice(0)];
  }

  /** Removes the requests whose callers wait for the response. */
  takeAwaited(): readonly Waiting[] {
    const awaited = this.awaited();
    this.#others.splice(0, this.#others.length, ...this.#others.filter((entry) => !isAwaited(entry)));
    this.#awaited = 0;
    return awaited;
  }

  /** The first requests whose callers wait for the response. */
  awaited(max = this.#awaited): readonly Waiting[] {
    return this.#awaited === 0 ? [] : this.#others.filter(isAwaited).slice(0, max);
  }

  includes(entry: Waiting): boolean {
    return this.#others.includes(entry);
  }

  /** How many ticks were skipped since the last call, and when the last of them were due. */
  takeSkipped(): { readonly skippedTicks: number; readonly skippedDue: readonly number[] } {
    const skipped = { skippedTicks: this.#skippedTicks, skippedDue: this.#skippedDue };
    this.#skippedTicks = 0;
    this.#skippedDue = [];
    return skipped;
  }
}

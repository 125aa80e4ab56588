/**
 * At most so many at once, the rest wait in order: entries into isolates, each of which occupies a thread (isolated-vm makes threads
 * without end when it is asked to), and executions, each of which holds an isolate.
 */
export class EntrySlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** undefined when there was a free one: the common case must not cost a turn of the loop. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

interface Pending {
  /** Time base of `performance.now()`. */
  readonly deadline: number;
  readonly expire: () => void;
}

const maxSweepIntervalMs = 100;

/**
 * Applies one fixed timeout to many promises with a single shared timer. Nearly all of them settle long before, and a timer per promise
 * was measurable on the delivery path (decision 0082).
 *
 * A timeout fires up to `maxSweepIntervalMs` late, or up to one full timeout late if the timeout is shorter than that.
 */
export class SharedTimeout {
  readonly timeoutMs: number;
  /** Insertion order is expiry order, because every entry has the same timeout. */
  readonly #pending = new Set<Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** Returns the promise's result, or undefined if the timeout expires first. The promise itself keeps running. */
  race<Result extends object>(promise: Promise<Result>): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const entry: Pending = { deadline: performance.now() + this.timeoutMs, expire: () => resolve(undefined) };
      this.#pending.add(entry);
      this.#timer ??= setInterval(() => this.#sweep(), Math.min(maxSweepIntervalMs, this.timeoutMs));
      promise.then(
        (result) => {
          this.#pending.delete(entry);
          resolve(result);
        },
        (error: Error) => {
          this.#pending.delete(entry);
          reject(error);
        },
      );
    });
  }

  #sweep(): void {
    const now = performance.now();
    for (const entry of this.#pending) {
      if (entry.deadline > now) return;
      this.#pending.delete(entry);
      entry.expire();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

interface Wait {
  /** By `performance.now()`. */
  readonly until: number;
  readonly give: (outOfPatience: undefined) => void;
}

const mostBetweenLooksMs = 100;

/** Waits for what is under way, each for the same time, by one timer for all: most are done long before, and a timer each is dear. */
export class Patience {
  readonly ms: number;
  /** In the order in which they end. */
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  /** Up to a tenth of a second later, or twice the time when it is shorter than that. */
  constructor(ms: number) {
    this.ms = ms;
  }

  /** What came of it; undefined when it is still under way as the patience ends. */
  of<Result extends object>(underWay: Promise<Result>): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { until: performance.now() + this.ms, give: resolve };
      this.#waits.add(wait);
      this.#timer ??= setInterval(() => this.#look(), Math.min(mostBetweenLooksMs, this.ms));
      underWay.then(
        (result) => {
          this.#waits.delete(wait);
          resolve(result);
        },
        (error: Error) => {
          this.#waits.delete(wait);
          reject(error);
        },
      );
    });
  }

  #look(): void {
    const now = performance.now();
    for (const wait of this.#waits) {
      if (wait.until > now) return;
      this.#waits.delete(wait);
      wait.give(undefined);
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

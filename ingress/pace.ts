export interface PaceLimits {
  /** What a transfer may take besides the time of its bytes, milliseconds. */
  readonly graceMs: number;
  /** Minimum mean rate of what has moved. */
  readonly bytesPerSecond: number;
}

/** How long a transfer of so many bytes may take. */
export const maxTransferMs = (bytes: number, { graceMs, bytesPerSecond }: PaceLimits): number =>
  Math.ceil(graceMs + (bytes / bytesPerSecond) * 1_000);

/** Ends a transfer whose client is slower than it may be, or stands still. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #onSlow: () => void;
  readonly #startedAt = performance.now();
  #bytes = 0;
  #pausedMs = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout;

  constructor(limits: PaceLimits, onSlow: () => void) {
    this.#limits = limits;
    this.#onSlow = onSlow;
    this.#timer = setTimeout(() => this.#check(), limits.graceMs);
  }

  /** More bytes have moved. */
  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Does not count the time until our own work, such as a write to a store, settles. @returns its result */
  async pauseFor<Result>(work: Promise<Result>): Promise<Result> {
    const pausedAt = performance.now();
    clearTimeout(this.#timer);
    try {
      return await work;
    } finally {
      this.#pausedMs += performance.now() - pausedAt;
      if (!this.#hasEnded) this.#check();
    }
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #check(): void {
    const leftMs = maxTransferMs(this.#bytes, this.#limits) + this.#pausedMs - (performance.now() - this.#startedAt);
    if (leftMs <= 0) this.#onSlow();
    else this.#timer = setTimeout(() => this.#check(), leftMs);
  }
}

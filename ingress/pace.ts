export interface PaceLimits {
  /** What a transfer may take besides the time of its bytes, milliseconds. */
  readonly graceMs: number;
  /** Minimum mean rate of what has moved. */
  readonly bytesPerSecond: number;
}

/** How long a transfer of so many bytes may take. */
export const maxTransferMs = (bytes: number, { graceMs, bytesPerSecond }: PaceLimits): number =>
  Math.ceil(graceMs + (bytes / bytesPerSecond) * 1_000);

/** Ends a transfer that is slower than it may be, or stands still. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #onSlow: () => void;
  readonly #startedAt = performance.now();
  #bytes = 0;
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

  end(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const leftMs = maxTransferMs(this.#bytes, this.#limits) - (performance.now() - this.#startedAt);
    if (leftMs <= 0) this.#onSlow();
    else this.#timer = setTimeout(() => this.#check(), leftMs);
  }
}

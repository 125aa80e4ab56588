export interface SharedRateLimits {
  /** Of all shares together, a second. */
  readonly total: number;
  /** Of one share, a second. */
  readonly share: number;
}

/** How much a share may use at once, in seconds of its rate. */
const burstSeconds = 2;

/** Divides a rate equally among all open shares, whether they use it or not: none can take from another. */
export class SharedRate {
  readonly #limits: SharedRateLimits;
  readonly #open = new Set<RateShare>();

  constructor(limits: SharedRateLimits) {
    this.#limits = limits;
  }

  get perSecond(): number {
    return Math.min(this.#limits.share, this.#limits.total / Math.max(1, this.#open.size));
  }

  open(): RateShare {
    const share = new RateShare(this, () => this.#open.delete(share));
    this.#open.add(share);
    return share;
  }
}

export class RateShare {
  readonly #rate: Pick<SharedRate, "perSecond">;
  readonly #close: () => void;
  #left = Infinity;
  #at = Infinity;

  constructor(rate: Pick<SharedRate, "perSecond">, close: () => void) {
    this.#rate = rate;
    this.#close = close;
  }

  /**
   * Uses any amount while something is left; what it used too much is refilled first. Time is an argument: ms of a clock that never goes back.
   * @returns false when nothing is left
   */
  use(amount: number, nowMs: number): boolean {
    const { perSecond } = this.#rate;
    const passedMs = Math.max(0, nowMs - this.#at);
    this.#left = Math.min(perSecond * burstSeconds, this.#left + (passedMs * perSecond) / 1_000);
    this.#at = nowMs;
    if (this.#left <= 0) return false;
    this.#left -= amount;
    return true;
  }

  close(): void {
    this.#close();
  }
}

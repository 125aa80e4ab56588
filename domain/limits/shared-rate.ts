export interface SharedRateLimits {
  /** Of all shares together, a second. */
  readonly total: number;
  /** Of one share, a second. */
  readonly share: number;
}

/** How much a share may use at once, in seconds of its rate. */
const burstSeconds = 2;

interface Holder {
  readonly share: RateShare;
  entries: number;
}

/** Divides a rate equally among all holders with an open entry, whether they use it or not: none can take from another. */
export class SharedRate {
  readonly #limits: SharedRateLimits;
  /** Those without an entry are kept until their share is full: opening one again must not refill it. */
  readonly #holders = new Map<string, Holder>();
  #active = 0;

  constructor(limits: SharedRateLimits) {
    this.#limits = limits;
  }

  get perSecond(): number {
    return Math.min(this.#limits.share, this.#limits.total / Math.max(1, this.#active));
  }

  /** All entries of a holder, such as a user, use one share. Time as in `RateEntry.use`. */
  open(name: string, nowMs: number): RateEntry {
    this.#forgetFull(nowMs);
    const holder = this.#holders.get(name) ?? { share: new RateShare(this), entries: 0 };
    this.#holders.set(name, holder);
    if (holder.entries++ === 0) this.#active++;
    return new RateEntry(holder.share, () => {
      if (--holder.entries === 0) this.#active--;
    });
  }

  #forgetFull(nowMs: number): void {
    for (const [name, { share, entries }] of this.#holders) if (entries === 0 && share.isFull(nowMs)) this.#holders.delete(name);
  }
}

class RateShare {
  readonly #rate: Pick<SharedRate, "perSecond">;
  #left = Infinity;
  #at = Infinity;

  constructor(rate: Pick<SharedRate, "perSecond">) {
    this.#rate = rate;
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#left >= this.#max;
  }

  use(amount: number, nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#left < Math.min(amount, this.#max)) return false;
    this.#left -= amount;
    return true;
  }

  charge(amount: number): void {
    this.#left -= amount;
  }

  get #max(): number {
    return this.#rate.perSecond * burstSeconds;
  }

  #refill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#at);
    this.#left = Math.min(this.#max, this.#left + (passedMs * this.#rate.perSecond) / 1_000);
    this.#at = nowMs;
  }
}

export class RateEntry {
  readonly #share: RateShare;
  readonly #close: () => void;
  #isClosed = false;

  constructor(share: RateShare, close: () => void) {
    this.#share = share;
    this.#close = close;
  }

  /**
   * Uses an amount that is left, or any larger one while the share is full: what it used too much is refilled first. Time is an argument: ms of a
   * clock that never goes back.
   * @returns false when too little is left; nothing is used then
   */
  use(amount: number, nowMs: number): boolean {
    return this.#share.use(amount, nowMs);
  }

  /** Uses more, after `use`, for what could not be known before. It is refilled first. */
  charge(amount: number): void {
    this.#share.charge(amount);
  }

  /** May be called more than once. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#close();
  }
}

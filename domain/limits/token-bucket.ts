export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Lets `perSecond` pass on average and up to `burst` at once. Time is an argument: ms of a clock that never goes back. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor({ perSecond, burst }: Rate) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes a token, from the future if none is left. @returns ms until that token is available */
  reserve(nowMs: number): number {
    this.#refill(nowMs);
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token if there is one. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  #refill(nowMs: number): void {
    if (nowMs > this.#at && this.#at > Number.NEGATIVE_INFINITY) {
      this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#at) * this.#perMs);
    }
    this.#at = Math.max(this.#at, nowMs);
  }
}

/** One bucket for each of many keys. A key is forgotten, with what it has used, when so many others have come since. */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #maxKeys: number;
  /** The key that was used least recently is the first. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: Rate, maxKeys = 10_000) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  of(key: string): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#maxKeys && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

/** Lets `perSecond` pass on average and up to `burst` at once. Time is an argument: ms of a clock that never goes back. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly perSecond: number; readonly burst: number }) {
    this.#perMs = options.perSecond / 1_000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
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

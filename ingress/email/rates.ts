import { TokenBucket } from "../../domain/limits/token-bucket.ts";

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Limits how often something happens for each of many keys. Keys are forgotten when so many others have come since. */
export class Rates {
  readonly #rate: Rate;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: Rate, maxKeys = 10_000) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  /** Whether it may happen once more. @param nowMs of a clock that never goes back */
  take(key: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate);
    // Last in the order of the map: the first is the one that was used least recently.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#maxKeys && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket.take(nowMs);
  }
}

import type { Clock } from "../../../domain/clock.ts";
import type { RateLimit } from "../../config.ts";

export interface Taken {
  readonly allowed: boolean;
  /** Requests used of the burst, including this one; above the limit exactly if it is refused. */
  readonly used: number;
  /** Epoch ms: if refused, when the next request is allowed; otherwise, when the whole burst is available again. */
  readonly resetAt: number;
}

/** Clients can invent keys, such as addresses, so the oldest key is evicted first. */
const maxKeys = 100_000;

/**
 * Generic cell rate algorithm: a bucket of `requests` that refills evenly over `windowMs`, kept as one number per key, the time at
 * which it would be full again. Unlike a fixed window, it does not allow two bursts around a window's edge.
 */
export class Gcra {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #fullAt = new Map<string, number>();
  #sweepAt = 1_024;

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  get size(): number {
    return this.#fullAt.size;
  }

  take(key: string): Taken {
    const taken = this.peek(key);
    if (taken.allowed) this.#fullAt.set(key, taken.resetAt);
    if (this.#fullAt.size > this.#sweepAt) this.#sweep();
    if (this.#fullAt.size > maxKeys) this.#evictOldest();
    return taken;
  }

  /** The result of {@link take}, without taking. */
  peek(key: string): Taken {
    const { requests, windowMs } = this.#limit;
    const now = this.#clock.now();
    const interval = windowMs / requests;
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? 0) + interval;
    const allowed = fullAt - now <= windowMs + 1e-6;
    const used = Math.ceil((fullAt - now) / interval - 1e-6);
    return {
      allowed,
      used: allowed ? Math.min(used, requests) : requests + 1,
      resetAt: allowed ? fullAt : fullAt - windowMs,
    };
  }

  reset(key: string): void {
    this.#fullAt.delete(key);
  }

  #evictOldest(): void {
    for (const [key] of this.#fullAt) return void this.#fullAt.delete(key);
  }

  /** Removes full buckets. The next sweep waits until the number of keys has doubled, so that it costs little per request. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
    this.#sweepAt = Math.max(1_024, this.#fullAt.size * 2);
  }
}

import type { Clock } from "../../domain/clock.ts";
import type { RateLimit } from "../config.ts";

export interface Taken {
  readonly allowed: boolean;
  /** Of the burst, counting this one; more than the limit exactly when it is refused. */
  readonly used: number;
  /** Epoch ms: when refused, of the next request that is let through; else, when the whole burst is there again. */
  readonly resetAt: number;
}

/** Strangers can make up keys, such as addresses: the one that came first is forgotten first. */
const maxKeys = 100_000;

/**
 * Generic cell rate algorithm: a bucket of `requests` that refills evenly over `windowMs`, kept as one number per key, the time at
 * which it would be full again. Unlike a fixed window it lets nobody through twice around the window's edge.
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
    if (this.#fullAt.size > maxKeys) this.#forgetOldest();
    return taken;
  }

  /** What {@link take} would say, without taking. */
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

  #forgetOldest(): void {
    for (const [key] of this.#fullAt) return void this.#fullAt.delete(key);
  }

  /** Full buckets need no memory. Waits until there are twice as many keys again, so that it costs little per request. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
    this.#sweepAt = Math.max(1_024, this.#fullAt.size * 2);
  }
}

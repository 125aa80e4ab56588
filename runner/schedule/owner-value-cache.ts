import type { Clock } from "../../domain/clock.ts";
import { LookupCache } from "../../domain/lookup-cache.ts";
import type { OwnerListener, Subscription } from "./ports.ts";

export interface OwnerValueCacheOptions<Value> {
  /** Undefined if the owner has no value of its own. @throws Unavailable */
  readonly read: (owner: string) => Promise<Value | undefined>;
  readonly subscribe: (changed: OwnerListener) => Promise<Subscription>;
  /** Value of owners that have none, and of owners whose value cannot be read. */
  readonly defaultValue: Value;
  readonly clock: Clock;
  /** Called after each read, including failed ones, once the value is cached. */
  readonly onRead?: (owner: string, value: Value) => void;
}

interface OwnerValue<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** Stored values can expire, and expiry is not reported as a change. */
const maxAgeMs = 10 * 60_000;
/** A failed read is repeated on the first use after this time. */
const retryAfterMs = 1_000;
const maxOwners = 10_000;

/** Caches one value per owner, such as a quota. A value is read on first use, after each change, and when it is old. */
export class OwnerValueCache<Value> {
  readonly #options: OwnerValueCacheOptions<Value>;
  readonly #values: LookupCache<OwnerValue<Value>>;

  constructor(options: OwnerValueCacheOptions<Value>) {
    this.#options = options;
    const { subscribe, onRead } = options;
    this.#values = new LookupCache({
      lookup: (owner) => this.#read(owner),
      follow: subscribe,
      onChange: "refresh",
      onCached: (owner, { value }) => onRead?.(owner, value),
      maxEntries: maxOwners,
    });
  }

  start(): Promise<void> {
    return this.#values.start();
  }

  stop(): Promise<void> {
    return this.#values.stop();
  }

  /** The cached value. An unknown or expired one is read in the background. */
  get(owner: string): Value {
    const cached = this.#values.peek(owner) ?? undefined;
    const isExpired = cached === undefined || this.#options.clock.now() > cached.expiresAtMs;
    if (isExpired && !this.#values.isLookingUp(owner)) void this.reload(owner); // Never rejects.
    return cached?.value ?? this.#options.defaultValue;
  }

  isCached(owner: string): boolean {
    return (this.#values.peek(owner) ?? undefined) !== undefined;
  }

  /** Begins after any read in progress, so that its result is at least as new as the change that caused it. Never rejects. */
  async reload(owner: string): Promise<void> {
    await this.#values.refresh(owner);
  }

  /** Never rejects: if the store cannot be read, the previous value stays, and is read again on use after `retryAfterMs`. */
  async #read(owner: string): Promise<OwnerValue<Value>> {
    const { read, defaultValue, clock } = this.#options;
    return read(owner).then(
      (value) => ({ value: value ?? defaultValue, expiresAtMs: clock.now() + maxAgeMs }),
      () => ({ value: this.#values.peek(owner)?.value ?? defaultValue, expiresAtMs: clock.now() + retryAfterMs }),
    );
  }
}

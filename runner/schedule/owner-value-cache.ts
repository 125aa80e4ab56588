import type { Clock } from "../../domain/clock.ts";
import { LookupCache } from "../../domain/lookup-cache.ts";

export interface OwnerValuesOptions<Value> {
  /** Undefined when the owner has no value of its own. @throws Unavailable */
  readonly read: (owner: string) => Promise<Value | undefined>;
  /** Reports each owner whose value changed, from now on; undefined: some may have changed, it is not known which. */
  readonly follow: (changed: (owner: string | undefined) => void) => Promise<{ stop(): Promise<void> }>;
  /** Of owners without a value, and of those whose value cannot be read yet. */
  readonly usual: Value;
  readonly clock: Clock;
  /** Called after each read, also when it failed. */
  readonly onRead?: (owner: string, value: Value) => void;
}

interface OwnerValue<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** Entries in the store expire, and no change is reported then. */
const maxAgeMs = 10 * 60_000;
const retryAfterMs = 1_000;
const maxOwners = 10_000;

/** Caches a value for each owner whose work reaches this runner, such as a quota: read with the owner's first work, and again on each change. */
export class OwnerValues<Value> {
  readonly #options: OwnerValuesOptions<Value>;
  readonly #values: LookupCache<OwnerValue<Value>>;

  constructor(options: OwnerValuesOptions<Value>) {
    this.#options = options;
    const { follow } = options;
    this.#values = new LookupCache({ lookup: (owner) => this.#read(owner), follow, onChange: "refresh", maxEntries: maxOwners });
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
    return cached?.value ?? this.#options.usual;
  }

  isKnown(owner: string): boolean {
    return (this.#values.peek(owner) ?? undefined) !== undefined;
  }

  /** Begins after any read in progress, so that its result is at least as new as the change that caused it. Never rejects. */
  async reload(owner: string): Promise<void> {
    await this.#values.refresh(owner);
  }

  /** Never rejects: if the store cannot be read, the previous value stays, and is read again on use after `retryAfterMs`. */
  async #read(owner: string): Promise<OwnerValue<Value>> {
    const { read, usual, clock, onRead } = this.#options;
    const next = await read(owner).then(
      (value) => ({ value: value ?? usual, expiresAtMs: clock.now() + maxAgeMs }),
      () => ({ value: this.#values.peek(owner)?.value ?? usual, expiresAtMs: clock.now() + retryAfterMs }),
    );
    onRead?.(owner, next.value);
    return next;
  }
}

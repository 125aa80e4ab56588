export interface LookupCacheOptions<Value> {
  /** Reads the value of a key from the store; undefined: the store has none. */
  readonly lookup: (key: string) => Promise<Value | undefined>;
  /** Reports each changed key, from now on; undefined: changes may have been missed. */
  readonly follow: (onChange: (key: string | undefined) => void) => Promise<{ stop(): Promise<void> }>;
  /** `evict`: the next use looks the key up. `refresh`: the key is looked up now, and its previous value is used in the meantime. */
  readonly onChange: "evict" | "refresh";
  /** The least recently used entry is evicted first. */
  readonly maxEntries: number;
  /** Called for each value that was looked up, once it is cached. */
  readonly onCached?: (key: string, value: Value) => void;
  /** Bound on keys cached as absent, which do not displace entries: callers may ask for any key. Default: 0, absence is not cached. */
  readonly maxAbsent?: number;
}

interface Lookup<Value> {
  readonly result: Promise<Value | undefined>;
  /** Begins when this one ends. */
  next?: Promise<Value | undefined>;
}

/**
 * Caches values of a store: a key is looked up on first use, and followed from then on. Concurrent callers share one lookup. The result of
 * a lookup that began before a change is never cached after it.
 */
export class LookupCache<Value extends object> {
  readonly #options: LookupCacheOptions<Value>;
  readonly #entries = new Map<string, Value>();
  readonly #absent = new Set<string>();
  readonly #lookups = new Map<string, Lookup<Value>>();
  #following: { stop(): Promise<void> } | undefined;

  constructor(options: LookupCacheOptions<Value>) {
    this.#options = options;
  }

  /** @param onChange called for each change after the cache has reacted to it */
  async start(onChange?: (key: string | undefined) => void): Promise<void> {
    this.#following = await this.#options.follow((key) => {
      for (const changed of key === undefined ? this.#keys() : [key]) this.#react(changed);
      onChange?.(key);
    });
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  /** The cached value; null: the key is known to be absent; undefined: it must be looked up. */
  peek(key: string): Value | null | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return this.#absent.has(key) ? null : undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** The cached value, else the result of a lookup. @throws what the lookup throws, which is not cached */
  async get(key: string): Promise<Value | undefined> {
    const cached = this.peek(key);
    if (cached !== undefined) return cached ?? undefined;
    return (this.#lookups.get(key) ?? this.#begin(key)).result;
  }

  /** Looks the key up after any lookup in progress; until then, and if it fails, the previous value stays. @throws what the lookup throws */
  refresh(key: string): Promise<Value | undefined> {
    const running = this.#lookups.get(key);
    if (running === undefined) return this.#begin(key).result;
    const again = (): Promise<Value | undefined> => this.#begin(key).result;
    return (running.next ??= running.result.then(again, again));
  }

  isLookingUp(key: string): boolean {
    return this.#lookups.has(key);
  }

  #keys(): readonly string[] {
    return [...new Set([...this.#entries.keys(), ...this.#absent, ...this.#lookups.keys()])];
  }

  #react(key: string): void {
    if (this.#options.onChange === "evict") {
      this.#entries.delete(key);
      this.#absent.delete(key);
      this.#lookups.delete(key); // Its result may be older than the change.
    } else if (this.#entries.has(key) || this.#lookups.has(key)) {
      this.refresh(key).catch(() => undefined); // The previous value stays.
    }
  }

  #begin(key: string): Lookup<Value> {
    const result = this.#options.lookup(key).then(
      (value) => {
        if (this.#end(key, lookup)) this.#store(key, value);
        return value;
      },
      (error: unknown) => {
        this.#end(key, lookup);
        throw error;
      },
    );
    const lookup: Lookup<Value> = { result };
    this.#lookups.set(key, lookup);
    return lookup;
  }

  /** @returns whether this lookup is still valid: false if the key was evicted since */
  #end(key: string, lookup: Lookup<Value>): boolean {
    return this.#lookups.get(key) === lookup && this.#lookups.delete(key);
  }

  #store(key: string, value: Value | undefined): void {
    this.#entries.delete(key);
    this.#absent.delete(key);
    if (value === undefined) this.#absent.add(key);
    else this.#entries.set(key, value);
    deleteOldest(this.#absent, this.#options.maxAbsent ?? 0);
    deleteOldest(this.#entries, this.#options.maxEntries);
    if (value !== undefined) this.#options.onCached?.(key, value);
  }
}

function deleteOldest(keyed: { readonly size: number; keys(): Iterable<string>; delete(key: string): boolean }, max: number): void {
  for (const oldest of keyed.keys()) {
    if (keyed.size <= max) return;
    keyed.delete(oldest);
  }
}

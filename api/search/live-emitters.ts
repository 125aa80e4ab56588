import type { Log } from "../../domain/log.ts";
import { TokenBucket, type Rate } from "../../domain/limits/token-bucket.ts";
import { retry } from "../../domain/retry.ts";
import { emitterPatterns, isNamedBy, type EmitterPatterns } from "../../domain/search/names.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { VisibleNames, VisibleObjects } from "../traces/visible-objects.ts";

/** Names, and who may see them, are read again after this time. */
const renewMs = 15_000;
const retries = { firstMs: 500, maxMs: 5_000 };
/** Sources that were not found are looked up again for later commits: they may just have been created. */
const lookups: Rate = { perSecond: 2, burst: 10 };

export type Emitter =
  | { readonly outcome: "shown"; readonly name: string }
  /** The query names others. */
  | { readonly outcome: "other" }
  /** It was just created, is deleted, or the caller may not see it. */
  | { readonly outcome: "unknown" };

/** The sources and workflows of a live search: those that the caller may see, and that the query names. */
export class LiveEmitters {
  readonly #patterns: EmitterPatterns | undefined;
  readonly #open: () => VisibleObjects;
  readonly #log: Pick<Log, "warn">;
  readonly #lookups: TokenBucket;
  /** Those that were not found, with the commit for which they were looked up. */
  readonly #unknown = new Map<string, number | undefined>();
  #objects: VisibleObjects;
  #openedAt: number;

  constructor({ sources }: Pick<SearchQuery, "sources">, open: () => VisibleObjects, log: Pick<Log, "warn">, lookupRate: Rate = lookups) {
    this.#patterns = sources && emitterPatterns(sources);
    this.#open = open;
    this.#log = log;
    this.#lookups = new TokenBucket(lookupRate);
    this.#objects = open();
    this.#openedAt = performance.now();
  }

  /**
   * Waits while Postgres is away, until the signal aborts.
   * @param sequence of the commit
   */
  async find(id: string, sequence: number | undefined, signal: AbortSignal): Promise<Emitter> {
    if (performance.now() - this.#openedAt > renewMs) this.#renew();
    if (this.#unknown.has(id)) {
      const isSameCommit = sequence !== undefined && this.#unknown.get(id) === sequence;
      if (isSameCommit || !this.#lookups.take(performance.now())) return { outcome: "unknown" };
      this.#objects.forget(id);
    }
    const names = await this.#namesOf(id, signal);
    if (names === undefined) {
      this.#unknown.set(id, sequence);
      return { outcome: "unknown" };
    }
    this.#unknown.delete(id);
    const isNamed = this.#patterns === undefined || isNamedBy(this.#patterns, { id, ...names });
    return isNamed ? { outcome: "shown", name: names.name } : { outcome: "other" };
  }

  /** Undefined also when the signal has aborted. */
  async #namesOf(id: string, signal: AbortSignal): Promise<VisibleNames | undefined> {
    try {
      return await retry(() => this.#objects.namesOf(id), {
        ...retries,
        signal,
        onFailure: (error, failures) => {
          if (failures === 1) this.#log.warn({ op: "search.live", err: error }, "the name of a source cannot be read, trying again");
          this.#renew();
        },
      });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  #renew(): void {
    this.#objects = this.#open();
    this.#openedAt = performance.now();
    this.#unknown.clear();
  }
}

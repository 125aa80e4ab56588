import type { Log } from "../../domain/log.ts";
import { retry } from "../../domain/retry.ts";
import { emitterPatterns, isNamedBy, type EmitterPatterns } from "../../domain/search/names.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { VisibleObjects } from "../traces/visible-objects.ts";

/** Names, and who may see them, are read again after this time. */
const renewMs = 15_000;
const retries = { firstMs: 500, maxMs: 5_000 };

/** The sources and workflows of a live search: those that the caller may see, and that the query names. */
export class LiveEmitters {
  readonly #patterns: EmitterPatterns | undefined;
  readonly #open: () => VisibleObjects;
  readonly #log: Pick<Log, "warn">;
  #objects: VisibleObjects;
  #openedAt: number;

  constructor({ sources }: Pick<SearchQuery, "sources">, open: () => VisibleObjects, log: Pick<Log, "warn">) {
    this.#patterns = sources && emitterPatterns(sources);
    this.#open = open;
    this.#log = log;
    this.#objects = open();
    this.#openedAt = performance.now();
  }

  /** Waits while Postgres is away. Undefined: its items are not shown, or the signal has aborted. */
  async nameOf(id: string, signal: AbortSignal): Promise<string | undefined> {
    if (performance.now() - this.#openedAt > renewMs) this.#renew();
    try {
      const names = await retry(() => this.#objects.namesOf(id), {
        ...retries,
        signal,
        onFailure: (error, failures) => {
          if (failures === 1) this.#log.warn({ op: "search.live", err: error }, "the name of a source cannot be read, trying again");
          this.#renew();
        },
      });
      const isNamed = names !== undefined && (this.#patterns === undefined || isNamedBy(this.#patterns, { id, ...names }));
      return isNamed ? names.name : undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  #renew(): void {
    this.#objects = this.#open();
    this.#openedAt = performance.now();
  }
}

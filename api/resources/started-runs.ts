import { LRUCache } from "lru-cache";

const maxRuns = 10_000;
const ttlMs = 60 * 60 * 1_000;

/** Manual runs that had not ended when their request returned. The history does not have them until they end. */
export class StartedRuns {
  /** Run → source. */
  readonly #sources = new LRUCache<string, string>({ max: maxRuns, ttl: ttlMs });

  add(run: string, source: string): void {
    this.#sources.set(run, source);
  }

  has(run: string, source: string): boolean {
    return this.#sources.get(run) === source;
  }
}

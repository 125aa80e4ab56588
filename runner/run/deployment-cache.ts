import { LookupCache } from "../../domain/lookup-cache.ts";
import { hasMoved, type DeploymentEntry } from "../../domain/source/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Deployments } from "./ports.ts";

const maxEntries = 10_000;

/** Caches the deployment entries of sources that ran recently. An entry that changes is evicted. */
export class DeploymentCache {
  readonly #entries: LookupCache<DeploymentEntry>;

  constructor(deployments: Deployments) {
    this.#entries = new LookupCache({
      lookup: (source) => deployments.get(source),
      follow: async (onChange) => {
        await deployments.onChange(onChange);
        return { stop: () => Promise.resolve() };
      },
      onChange: "evict",
      maxEntries,
    });
  }

  /** @param onChange called for each source whose entry changed. Changes that were missed are not reported: isolates check the deployment's id. */
  start(onChange: (source: string) => void): Promise<void> {
    return this.#entries.start((source) => {
      if (source !== undefined) onChange(source);
    });
  }

  /** The owner of a source; undefined when the source was deleted or runs in another pool. Not a promise if it is cached. */
  ownerOf(source: string): string | undefined | Promise<string | undefined> {
    const cached = this.#entries.peek(source) ?? undefined;
    return cached === undefined ? this.get(source).then(ownerIn) : ownerIn(cached);
  }

  /** The cached entry if it has at least this generation: the common case must not cost a promise. */
  cached(source: string, generation = 0): DeploymentEntry | undefined {
    const cached = this.#entries.peek(source) ?? undefined;
    return isAtLeast(cached, generation) ? cached : undefined;
  }

  /** @throws Unavailable when the stored entry is older than the generation */
  async get(source: string, generation = 0): Promise<DeploymentEntry | undefined> {
    const cached = await this.#entries.get(source);
    if (isAtLeast(cached, generation)) return cached;
    const read = await this.#entries.refresh(source);
    if (read === undefined || isAtLeast(read, generation)) return read;
    const stored = hasMoved(read) ? "none" : read.generation;
    throw new Unavailable(`source ${source} needs generation ${generation}, and its deployment entry has ${stored}: trying again`);
  }
}

const ownerIn = (entry: DeploymentEntry | undefined): string | undefined =>
  entry === undefined || hasMoved(entry) ? undefined : entry.owner;

/** An entry of a source that moved counts as new enough. */
const isAtLeast = (entry: DeploymentEntry | undefined, generation: number): boolean =>
  entry !== undefined && (hasMoved(entry) || entry.generation >= generation);

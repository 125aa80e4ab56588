import { LRUCache } from "lru-cache";
import { hasMoved, type DeploymentEntry } from "../../domain/source/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Deployments } from "../ports.ts";

/** Deployment entries of the sources that ran lately; an entry that changes is forgotten, not updated. */
export class DeploymentCache {
  readonly #deployments: Deployments;
  readonly #cached = new LRUCache<string, DeploymentEntry>({ max: 10_000 });
  /** Grows with every change told, so that a read that was under way meanwhile is not remembered. */
  #changes = 0;

  constructor(deployments: Deployments) {
    this.#deployments = deployments;
  }

  /** Warm isolates are told of by source; after a gap they are left alone, since they are told apart by their deployment's id. */
  async start(onChange: (source: string) => void): Promise<void> {
    await this.#deployments.onChange((source) => {
      this.#changes++;
      if (source === undefined) return this.#cached.clear();
      this.#cached.delete(source);
      onChange(source);
    });
  }

  /** Whose source it is; undefined when it is gone or runs elsewhere. At once when it is known. */
  ownerOf(source: string): string | undefined | Promise<string | undefined> {
    const cached = this.#cached.get(source);
    if (cached !== undefined) return hasMoved(cached) ? undefined : cached.owner;
    return this.get(source).then((read) => (read === undefined || hasMoved(read) ? undefined : read.owner));
  }

  /** The entry if it is known and new enough: the common case must not cost a promise. */
  cached(source: string, generation = 0): DeploymentEntry | undefined {
    const cached = this.#cached.get(source);
    return cached !== undefined && (hasMoved(cached) || cached.generation >= generation) ? cached : undefined;
  }

  /** @throws Unavailable when the entry is older than the generation asked for. */
  async get(source: string, generation = 0): Promise<DeploymentEntry | undefined> {
    const cached = this.cached(source, generation);
    if (cached !== undefined) return cached;
    const changes = this.#changes;
    const read = await this.#deployments.get(source);
    if (read === undefined) return undefined;
    if (!hasMoved(read) && read.generation < generation)
      throw new Unavailable(
        `source ${source}: generation ${generation} is wanted, the deployment entry is of generation ${read.generation}`,
      );
    if (changes === this.#changes) this.#cached.set(source, read);
    return read;
  }
}

import type { RunnerPoolResource } from "../../crds/runner-pool.ts";
import { finalizer } from "../../crds/resource.ts";
import { defaultPool } from "../../domain/subjects.ts";

/**
 * Maps owners to pools, from the cached pools. A pool counts once it has our finalizer: only then can it not vanish with sources in it
 * before it drains.
 */
export class OwnerPools {
  readonly #pools = new Map<string, RunnerPoolResource>();
  readonly #moved: ((owner: string) => void)[] = [];

  /** Called with each owner whose sources belong in another pool from now on. */
  onMove(moved: (owner: string) => void): void {
    this.#moved.push(moved);
  }

  poolOf(owner: string): string {
    const [first] = this.#candidates(owner);
    return first !== undefined && canTakeSources(first) ? first.metadata.name : defaultPool;
  }

  /** An older pool of the same owner. */
  rivalOf(pool: RunnerPoolResource): string | undefined {
    const { owner } = pool.spec;
    const [first] = owner === undefined ? [] : this.#candidates(owner);
    return first === undefined || first.metadata.uid === pool.metadata.uid ? undefined : first.metadata.name;
  }

  /** Names of the owner's other pools: when one is deleted, the next may replace it. */
  othersOf(pool: RunnerPoolResource): readonly string[] {
    const { owner } = pool.spec;
    if (owner === undefined) return [];
    return this.#candidates(owner)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== pool.metadata.name);
  }

  see(pool: RunnerPoolResource, deleted: boolean): void {
    const { owner } = pool.spec;
    const before = owner === undefined ? undefined : this.poolOf(owner);
    if (deleted) this.#pools.delete(pool.metadata.name);
    else this.#pools.set(pool.metadata.name, pool);
    if (owner !== undefined && this.poolOf(owner) !== before) for (const moved of this.#moved) moved(owner);
  }

  /** Oldest first, without those in deletion. */
  #candidates(owner: string): readonly RunnerPoolResource[] {
    const candidates = [...this.#pools.values()].filter(
      ({ spec, metadata }) => spec.owner === owner && metadata.name !== defaultPool && metadata.deletionTimestamp === undefined,
    );
    return candidates.toSorted((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
  }
}

const canTakeSources = ({ metadata }: RunnerPoolResource): boolean => metadata.finalizers.includes(finalizer);

const ageKey = ({ metadata }: RunnerPoolResource): string => `${metadata.creationTimestamp} ${metadata.name}`;

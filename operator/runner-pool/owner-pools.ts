import { finalizer } from "../../crds/resource.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { RunnerPoolResource } from "./names.ts";

/**
 * Which pool runs an owner's sources, from what was last seen of the pools. A pool counts from when we have adopted it, since only
 * then can it not vanish with sources in it, until it is asked to go.
 */
export class OwnerPools {
  readonly #pools = new Map<string, RunnerPoolResource>();
  readonly #moved: ((owner: string) => void)[] = [];

  /** `moved` is told each owner whose sources belong into another pool from now on. */
  onMove(moved: (owner: string) => void): void {
    this.#moved.push(moved);
  }

  poolOf(owner: string): string {
    const [first] = this.#candidates(owner);
    return first !== undefined && canTakeSources(first) ? first.metadata.name : defaultPool;
  }

  /** The pool that came before this one for the same owner. */
  rivalOf(pool: RunnerPoolResource): string | undefined {
    const { owner } = pool.spec;
    const [first] = owner === undefined ? [] : this.#candidates(owner);
    return first === undefined || first.metadata.uid === pool.metadata.uid ? undefined : first.metadata.name;
  }

  /** Names of the other pools of the same owner: when one goes, the next may take its place. */
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

  /** The oldest first; those in deletion have had their time. */
  #candidates(owner: string): readonly RunnerPoolResource[] {
    const candidates = [...this.#pools.values()].filter(
      ({ spec, metadata }) => spec.owner === owner && metadata.name !== defaultPool && metadata.deletionTimestamp === undefined,
    );
    return candidates.toSorted((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
  }
}

const canTakeSources = ({ metadata }: RunnerPoolResource): boolean => metadata.finalizers.includes(finalizer);

const ageKey = ({ metadata }: RunnerPoolResource): string => `${metadata.creationTimestamp} ${metadata.name}`;

import { compareVersions } from "../controller/versions.ts";
import type { Mirrored } from "./rows.ts";

/** The newest unwritten state of a resource. Its content is in the informer's cache. */
export interface PendingState {
  readonly state: Mirrored;
  readonly gone: boolean;
  /** When its oldest unwritten change was received, epoch ms. */
  readonly since: number;
}

/** Unwritten states, one per resource: memory is bounded by the number of resources, not by how long the database is down. */
export class PendingStates {
  readonly #states = new Map<string, PendingState>();

  get size(): number {
    return this.#states.size;
  }

  /** Epoch ms; undefined when empty. */
  get oldest(): number | undefined {
    return this.#states.values().next().value?.since;
  }

  has(state: Mirrored): boolean {
    return this.#states.has(keyOf(state));
  }

  /** Ignores a state older than the pending one. */
  add(state: Mirrored, gone: boolean, now: number): void {
    const key = keyOf(state);
    const before = this.#states.get(key);
    if (before !== undefined && compareVersions(state.resourceVersion, before.state.resourceVersion) < 0) return;
    // Updating a key keeps its position, so the first entry is the oldest.
    this.#states.set(key, { state, gone, since: before?.since ?? now });
  }

  /** The entries, oldest first. They stay until settled. */
  values(): IterableIterator<PendingState> {
    return this.#states.values();
  }

  /** Removes written entries, except those that changed during the write. */
  settle(batch: readonly PendingState[]): void {
    for (const pending of batch) {
      const key = keyOf(pending.state);
      if (this.#states.get(key) === pending) this.#states.delete(key);
    }
  }

  /** Drops all entries of a kind whose versions have restarted: they would count as newer than later changes. */
  forget(kind: string): void {
    for (const [key, pending] of this.#states) if (pending.state.kind === kind) this.#states.delete(key);
  }

  clear(): void {
    this.#states.clear();
  }
}

const keyOf = ({ kind, namespace, name }: Mirrored): string => `${kind}/${namespace}/${name}`;

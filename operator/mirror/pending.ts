import type { Resource } from "../../crds/resource.ts";
import { compareVersions } from "../controller/versions.ts";
import type { Mirrored } from "./rows.ts";

/** The newest unwritten state of a resource. */
export interface PendingState {
  readonly state: Mirrored;
  readonly gone: boolean;
  /** Undefined: read it from the store when it is written. */
  readonly resource: Resource | undefined;
  /** When its oldest unwritten change was received, epoch ms. */
  readonly since: number;
}

/** Bounds the resources held with their content while the database is down. Of the others only names are held. */
const maxHeldResources = 2_000;

/** Unwritten states, one per resource: memory is bounded by the number of resources, not by how long the database is down. */
export class PendingStates {
  readonly #states = new Map<string, PendingState>();
  #held = 0;

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
  add(state: Mirrored, gone: boolean, resource: Resource | undefined, now: number): void {
    const key = keyOf(state);
    const before = this.#states.get(key);
    if (before !== undefined && compareVersions(state.resourceVersion, before.state.resourceVersion) < 0) return;
    if (before?.resource !== undefined) this.#held--;
    const kept = gone || this.#held >= maxHeldResources ? undefined : resource;
    if (kept !== undefined) this.#held++;
    // Updating a key keeps its position, so the first entry is the oldest.
    this.#states.set(key, { state, gone, resource: kept, since: before?.since ?? now });
  }

  /** The oldest entries, at most `maxRows` and about `maxBytes` of content, but at least one. They stay until settled. */
  next(maxRows: number, maxBytes: number): PendingState[] {
    const batch: PendingState[] = [];
    let bytes = 0;
    for (const pending of this.#states.values()) {
      bytes += pending.resource === undefined ? 0 : JSON.stringify(pending.resource.spec ?? {}).length;
      if (batch.length >= maxRows || (bytes > maxBytes && batch.length > 0)) break;
      batch.push(pending);
    }
    return batch;
  }

  /** Removes written entries, except those that changed during the write. */
  settle(batch: readonly PendingState[]): void {
    for (const pending of batch) {
      const key = keyOf(pending.state);
      if (this.#states.get(key) === pending) this.#remove(key, pending);
    }
  }

  /** Drops all entries of a kind whose versions have restarted: they would count as newer than later changes. */
  forget(kind: string): void {
    for (const [key, pending] of this.#states) if (pending.state.kind === kind) this.#remove(key, pending);
  }

  clear(): void {
    this.#states.clear();
    this.#held = 0;
  }

  #remove(key: string, { resource }: PendingState): void {
    this.#states.delete(key);
    if (resource !== undefined) this.#held--;
  }
}

const keyOf = ({ kind, namespace, name }: Mirrored): string => `${kind}/${namespace}/${name}`;

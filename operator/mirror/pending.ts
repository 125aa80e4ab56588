import type { Resource } from "../../crds/resource.ts";
import { compareVersions } from "../controller/versions.ts";
import type { Mirrored } from "./rows.ts";

/** The newest state of a resource that is not written yet. */
export interface PendingState {
  readonly state: Mirrored;
  readonly gone: boolean;
  /** Absent: to be read from the store when its turn comes. */
  readonly resource: Resource | undefined;
  /** Epoch ms at which the resource's oldest unwritten state was told. */
  readonly since: number;
}

/** So many resources are held with their content while the database is away; of more, only the names. */
const mostHeld = 2_000;

/** States that wait to be written, one of each resource: memory is bounded by how many resources there are, not by how long it takes. */
export class PendingStates {
  readonly #states = new Map<string, PendingState>();
  #held = 0;

  get size(): number {
    return this.#states.size;
  }

  /** Epoch ms; undefined when nothing waits. */
  get oldest(): number | undefined {
    return this.#states.values().next().value?.since;
  }

  has(state: Mirrored): boolean {
    return this.#states.has(keyOf(state));
  }

  /** An older state than the one that waits changes nothing. */
  add(state: Mirrored, gone: boolean, resource: Resource | undefined, now: number): void {
    const key = keyOf(state);
    const before = this.#states.get(key);
    if (before !== undefined && compareVersions(state.resourceVersion, before.state.resourceVersion) < 0) return;
    if (before?.resource !== undefined) this.#held--;
    const kept = gone || this.#held >= mostHeld ? undefined : resource;
    if (kept !== undefined) this.#held++;
    // A key keeps its place, so the first is the oldest.
    this.#states.set(key, { state, gone, resource: kept, since: before?.since ?? now });
  }

  /** The oldest, at most `most` of them and about `mostBytes` of content, at least one. They stay until they are settled. */
  next(most: number, mostBytes: number): PendingState[] {
    const batch: PendingState[] = [];
    let bytes = 0;
    for (const pending of this.#states.values()) {
      bytes += pending.resource === undefined ? 0 : JSON.stringify(pending.resource.spec ?? {}).length;
      if (batch.length >= most || (bytes > mostBytes && batch.length > 0)) break;
      batch.push(pending);
    }
    return batch;
  }

  /** These are written; whatever was told meanwhile goes on waiting. */
  settle(batch: readonly PendingState[]): void {
    for (const pending of batch) {
      const key = keyOf(pending.state);
      if (this.#states.get(key) === pending) this.#remove(key, pending);
    }
  }

  /** All of a kind: its versions are counted anew, and those that wait would be taken for newer than what is told from now on. */
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

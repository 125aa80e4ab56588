import type { OwnerNamespaces } from "../../crds/owner-namespaces.ts";
import type { Resource } from "../../crds/resource.ts";
import type { Clock } from "../../domain/clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { Informer } from "../controller/informer.ts";
import type { Mirrored } from "../mirror/rows.ts";
import type { Log } from "../ports.ts";
import type { AssignedId, ChangeLog, ObservedChange, OwnedChange } from "./change.ts";
import { changesOf, deletionsOf, lastChangesOf, missedDeletion, publicIdOf } from "./changes.ts";

export interface ChangeRecorderOptions {
  readonly log: Log;
  readonly changes: ChangeLog;
  readonly owners: Pick<OwnerNamespaces, "ownerOf">;
  readonly clock: Clock;
  /** Entries of older writes may be deleted already: they must not be recorded again. */
  readonly maxAgeMs: number;
}

type Queued = { readonly change: ObservedChange; readonly owner: string | null | undefined } | { readonly id: AssignedId };

/** Bounds the memory while the database is down. */
const maxQueued = 20_000;
const batchSize = 200;
const retryDelay = { firstMs: 250, maxMs: 10_000 };

/**
 * Records changes by other clients of the Kubernetes API while this process leads. A new leader first records the last write of each
 * client of each resource: those already recorded are known by their identity.
 */
export class ChangeRecorder {
  readonly #options: ChangeRecorderOptions;
  readonly #informers: Informer<unknown, unknown>[] = [];
  #queue: Queued[] = [];
  #dropped = 0;
  #isLeading = false;
  #wake: () => void = () => undefined;

  constructor(options: ChangeRecorderOptions) {
    this.#options = options;
  }

  /** Call it before the informer starts. */
  watch<S, T>(informer: Informer<S, T>): void {
    this.#informers.push(informer as unknown as Informer<unknown, unknown>); // Only read.
    informer.onChange((resource, deleted, before) => {
      if (!this.#isLeading) return;
      const now = this.#options.clock.now();
      const changes = deleted ? deletionsOf(resource, before?.metadata, now) : changesOf(before, resource, now);
      for (const change of changes) this.#add({ change, owner: ownerInSpec(resource) });
      const id = publicIdOf(resource);
      if (!deleted && before !== undefined && id !== undefined && publicIdOf(before) === undefined)
        this.#add({ id: { uid: resource.metadata.uid, resourceId: id } });
    });
  }

  /** Records deletions that happened while no operator led. */
  readonly missedDeletions = (deleted: readonly Mirrored[]): void => {
    const at = this.#options.clock.now();
    for (const each of deleted) this.#add({ change: missedDeletion(each, at), owner: undefined });
  };

  /** Records until the signal aborts. The next leader finds what is left, except deletions. */
  async lead(signal: AbortSignal): Promise<void> {
    const onFailure = (error: unknown): void =>
      this.#options.log.warn({ op: "audit.observe", queued: this.#queue.length, err: error }, "changes by kubectl wait to be recorded");
    this.#isLeading = true;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    const attempt = (work: () => Promise<void>) => retry(work, { ...retryDelay, signal, onFailure }).catch(() => undefined); // Stopping.
    await attempt(() => this.#recordMissed(signal));
    while (!signal.aborted) {
      await attempt(() => this.#recordQueued(signal));
      await this.#untilWoken(signal);
    }
    this.#isLeading = false;
    this.#queue = [];
  }

  #add(queued: Queued): void {
    if (this.#queue.length < maxQueued) this.#queue.push(queued);
    else this.#dropped++;
    this.#wake();
  }

  async #recordMissed(signal: AbortSignal): Promise<void> {
    const since = this.#options.clock.now() - this.#options.maxAgeMs;
    let batch: Queued[] = [];
    for (const informer of this.#informers) {
      for (const resource of informer.values()) {
        const changes = lastChangesOf(resource).filter(({ at }) => at > since);
        batch.push(...changes.map((change) => ({ change, owner: ownerInSpec(resource) })));
        if (batch.length < batchSize) continue;
        if (signal.aborted) return;
        await this.#record(batch);
        batch = [];
      }
    }
    await this.#record(batch);
  }

  async #recordQueued(signal: AbortSignal): Promise<void> {
    while (this.#queue.length > 0 && !signal.aborted) {
      const batch = this.#queue.slice(0, batchSize);
      await this.#record(batch);
      this.#queue.splice(0, batch.length);
    }
    if (this.#dropped === 0) return;
    this.#options.log.error({ op: "audit.observe", dropped: this.#dropped }, "changes by kubectl are not in the audit log");
    this.#dropped = 0;
  }

  async #record(batch: readonly Queued[]): Promise<void> {
    try {
      const changes: OwnedChange[] = [];
      for (const queued of batch) if ("change" in queued) changes.push({ ...queued.change, owner: await this.#ownerOf(queued) });
      const ids = batch.flatMap((queued) => ("id" in queued ? [queued.id] : []));
      if (changes.length > 0) await this.#options.changes.record(changes);
      if (ids.length > 0) await this.#options.changes.assignIds(ids);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      // A change that cannot be written must not block the others.
      if (batch.length > 1) for (const queued of batch) await this.#record([queued]);
      else this.#options.log.error({ op: "audit.observe", ...batch[0], err: error }, "a change by kubectl cannot be recorded");
    }
  }

  async #ownerOf({ change, owner }: Extract<Queued, { readonly change: unknown }>): Promise<string | null> {
    return owner ?? (change.namespace === "" ? null : ((await this.#options.owners.ownerOf(change.namespace)) ?? null));
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    if (this.#queue.length > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}

/** A cluster-scoped resource, which is a pool of runners, may name its owner. */
function ownerInSpec({ metadata, spec }: Resource): string | undefined {
  const owner = metadata.namespace === "" && typeof spec === "object" && spec !== null && "owner" in spec ? spec.owner : undefined;
  return typeof owner === "string" ? owner : undefined;
}

import type { Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import type { Clock } from "../../domain/clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import type { Informer } from "../controller/informer.ts";
import { compareVersions } from "../controller/versions.ts";
import type { Log } from "../../domain/log.ts";
import { differences } from "./differences.ts";
import { PendingStates, type PendingState } from "./pending.ts";
import type { Mirrored, MirrorRows } from "./rows.ts";

export interface MirrorOptions {
  /** The cluster itself, not cached. */
  readonly store: Pick<ResourceStore, "list">;
  readonly rows: MirrorRows;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the whole mirror is compared with the cache. Default: ten minutes. */
  readonly compareEveryMs?: number;
}

const batchRows = 500;
const batchBytes = 4 * 2 ** 20;
const retryDelay = { firstMs: 250, maxMs: 10_000 };

/**
 * Writes every resource to the mirror as the informers report changes. Changes missed without a leader or a database are found by
 * comparison: once the informer has its list, then every ten minutes.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #pending = new PendingStates();
  readonly #watched: Watched[] = [];
  #wake: () => void = () => undefined;
  #isLeading = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Call it before the informer starts. */
  watch<S, T>(informer: Informer<S, T>): void {
    const watched: Watched = { informer: informer as unknown as Informer<unknown, unknown>, reset: false, compareAt: 0 }; // Only read.
    this.#watched.push(watched);
    informer.onChange((resource, deleted) => {
      if (!this.#isLeading) return; // The comparison finds it when this process leads.
      this.#pending.add(stateOf(resource), deleted, this.#options.clock.now());
      this.#wake();
    });
    informer.onReset(() => {
      watched.reset = true;
      this.#pending.forget(informer.kind.kind);
      this.#wake();
    });
    informer.onProgress(() => watched.compareAt === 0 && this.#wake());
  }

  /** Writes until the signal aborts, and finishes the write in progress. The next leader finds what is left. */
  async lead(signal: AbortSignal): Promise<void> {
    for (const watched of this.#watched) watched.compareAt = 0;
    this.#isLeading = true;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    await this.#run(signal);
    this.#isLeading = false;
    this.#pending.clear();
  }

  readonly #onAbort = (): void => this.#wake();

  /** Number of states to write. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Age of the oldest unwritten change that this process has received. */
  get lagSeconds(): number {
    const { oldest } = this.#pending;
    return oldest === undefined ? 0 : Math.max(0, this.#options.clock.now() - oldest) / 1000;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const onFailure = (error: unknown): void => {
      const { pending } = this;
      this.#options.log.warn({ op: "mirror.write", pending, err: error }, "the mirror cannot be written, trying again");
    };
    while (!signal.aborted) {
      await retry(() => this.#work(signal), { ...retryDelay, signal, onFailure }).catch(() => undefined); // Stopping.
      await this.#untilWoken(signal);
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const now = this.#options.clock.now();
    for (const watched of this.#watched) {
      if (watched.reset) await this.#reset(watched);
      if (watched.informer.hasSynced && watched.compareAt <= now) await this.#compare(watched);
    }
    while (this.#pending.size > 0 && !signal.aborted) await this.#write(this.#nextBatch());
  }

  /** Versions have restarted: the mirror would take its rows for newer. */
  async #reset(watched: Watched): Promise<void> {
    watched.reset = false;
    try {
      await this.#options.rows.forget(watched.informer.kind);
      watched.compareAt = 0;
    } catch (error) {
      watched.reset = true;
      throw error;
    }
  }

  async #compare(watched: Watched): Promise<void> {
    const { store, rows, clock, compareEveryMs = 600_000 } = this.#options;
    const { informer } = watched;
    const known = await rows.known(informer.kind);
    // Rows are not newer than the cluster's current version, unless the cluster was reset.
    const { resourceVersion: now } = await store.list(informer.kind, { limit: 1 });
    if ([...known.values()].some(({ resourceVersion }) => compareVersions(resourceVersion, now) > 0)) {
      watched.reset = true;
      return this.#reset(watched);
    }
    const { missing, surplus } = differences(known, informer);
    const add = (state: Mirrored, gone: boolean): void => {
      if (!this.#pending.has(state)) this.#pending.add(state, gone, clock.now());
    };
    for (const resource of missing) add(stateOf(resource), false);
    for (const state of surplus) add(state, true);
    watched.compareAt = clock.now() + compareEveryMs;
  }

  /** The oldest entries, at most `batchRows` and about `batchBytes` of content, but at least one. */
  #nextBatch(): readonly PendingState[] {
    const batch: PendingState[] = [];
    let bytes = 0;
    for (const pending of this.#pending.values()) {
      bytes += JSON.stringify(this.#contentOf(pending)?.spec ?? {}).length;
      if (batch.length >= batchRows || (bytes > batchBytes && batch.length > 0)) break;
      batch.push(pending);
    }
    return batch;
  }

  async #write(batch: readonly PendingState[]): Promise<void> {
    const { rows, log } = this.#options;
    try {
      await rows.write(
        batch.map((pending) => this.#contentOf(pending)).filter((resource) => resource !== undefined),
        batch.filter(({ gone }) => gone).map(({ state }) => state),
      );
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      // A resource that cannot be written must not block the others.
      if (batch.length > 1) {
        for (const pending of batch) await this.#write([pending]);
        return;
      }
      for (const { state } of batch) log.error({ op: "mirror.write", ...state, err: error }, "a resource cannot be mirrored");
    }
    this.#pending.settle(batch);
  }

  /** Undefined if it is gone. */
  #contentOf({ gone, state: { kind, namespace, name } }: PendingState): Resource | undefined {
    if (gone) return undefined;
    return this.#watched.find(({ informer }) => informer.kind.kind === kind)?.informer.get(`${namespace}/${name}`);
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    if (this.#pending.size > 0 || signal.aborted) return;
    if (this.#watched.some(({ reset, compareAt, informer }) => reset || (compareAt === 0 && informer.hasSynced))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const due = Math.min(...this.#watched.map(({ compareAt }) => compareAt || Number.POSITIVE_INFINITY));
    const timer = setTimeout(resolve, Math.min(Math.max(0, due - this.#options.clock.now()), 60_000));
    await promise;
    clearTimeout(timer);
  }
}

interface Watched {
  readonly informer: Informer<unknown, unknown>;
  /** Versions of this kind have restarted, and the mirror still has rows with the old ones. */
  reset: boolean;
  /** Epoch ms; 0: as soon as the informer has its list. */
  compareAt: number;
}

function stateOf({ kind, metadata: { namespace, name, uid, resourceVersion } }: Resource): Mirrored {
  return { kind, namespace, name, uid, resourceVersion };
}

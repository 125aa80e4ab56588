import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { Log } from "../ports.ts";
import type { Informer } from "./informer.ts";
import { keyOf, parseKey } from "./informer.ts";
import { silentController, type ControllerMetrics, type PassResult } from "./metrics.ts";
import { WorkQueue, type Verdict } from "./work-queue.ts";

/** One pass over one resource; throws when it must be tried again. @returns ms after which to look again, if at all */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<number | undefined>;

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Reads without the cache, which may not know of a deletion yet. */
  readonly store: Pick<ResourceStore, "find">;
  readonly concurrency: number;
  /** Within this time every resource of the first watched kind is looked at again, a share of them at a time. Default: 30 minutes. */
  readonly resyncMs?: number;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
}

const defaultResyncMs = 30 * 60_000;
/** A resync is spread over so many shares: a burst of ten thousand would delay what changed, and load the API. */
const resyncShares = 60;

/**
 * Has a kind's resources reconciled: one at a time each, again after a change, again later after a failure. Between `start` and
 * `stop` only; it may be started again, and then begins with everything there is.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #metrics: ControllerMetrics;
  /** Everything there is to reconcile: the keys of the first watched kind. */
  #all: () => Iterable<string> = () => [];
  /** Of the first watched kind. */
  #kind: Kind | undefined;
  #queue: WorkQueue | undefined;
  #resync: NodeJS.Timeout | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? silentController;
  }

  /** Reconciles each resource that the informer tells of, itself by default, or the ones it maps to. The first watch is the kind's own. */
  watch<S, T>(informer: Informer<S, T>, map: (resource: Resource<S, T>) => Iterable<string> = (resource) => [keyOf(resource)]): this {
    if (this.#kind === undefined) {
      this.#kind = informer.kind as Kind; // Only its names are read.
      this.#all = () => informer.keys();
    }
    informer.onChange((resource) => {
      for (const key of map(resource)) this.#queue?.add(key);
    });
    return this;
  }

  /** What is no resource and is looked at from each start on; it says itself when again. */
  always(key: string): this {
    const all = this.#all;
    this.#all = () => [...all(), key];
    return this;
  }

  /** Has one looked at, for a reason that no informer tells of. Nothing while stopped: a start looks at all. */
  add(key: string): void {
    this.#queue?.add(key);
  }

  /** The same for all that match. */
  addAll(matches: (key: string) => boolean): void {
    for (const key of this.#all()) if (matches(key)) this.add(key);
  }

  /** Nothing is waiting to be reconciled, nothing under way. */
  get idle(): boolean {
    return this.#queue?.idle !== false;
  }

  start(): void {
    const { concurrency, random, resyncMs = defaultResyncMs } = this.#options;
    const queue = new WorkQueue(
      { concurrency, baseDelayMs: 200, longestDelayMs: 60_000, random, metrics: this.#metrics.queue },
      (key, signal) => this.#work(key, signal),
    );
    this.#queue = queue;
    for (const key of this.#all()) queue.add(key, "background");
    let share = 0;
    this.#resync = setInterval(() => {
      for (const key of this.#all()) if (shareOf(key) === share) queue.add(key, "background");
      share = (share + 1) % resyncShares;
    }, resyncMs / resyncShares);
  }

  /** Starts nothing new and waits for what runs. */
  async stop(): Promise<void> {
    clearInterval(this.#resync);
    const queue = this.#queue;
    this.#queue = undefined;
    await queue?.stop();
  }

  async #work(key: string, signal: AbortSignal): Promise<Verdict> {
    const startedAt = performance.now();
    const done = (result: PassResult): void => this.#metrics.reconciled(result, (performance.now() - startedAt) / 1_000);
    try {
      const againAfterMs = await this.#options.reconcile(key, signal);
      done(againAfterMs === undefined ? "done" : "again");
      return againAfterMs === undefined ? { outcome: "done" } : { outcome: "done", againAfterMs };
    } catch (error) {
      const isOrdinary = error instanceof Conflict || (error instanceof NotFound && (await this.#isEnding(key)));
      done(isOrdinary ? "conflict" : "error");
      if (!signal.aborted && !isOrdinary) this.#tell(key, error, performance.now() - startedAt);
      return { outcome: "failed" };
    }
  }

  /** A resource that is deleted during its pass takes along what the pass reads and writes. The next pass finds it gone. */
  async #isEnding(key: string): Promise<boolean> {
    if (this.#kind === undefined) return false;
    const { namespace, name } = parseKey(key);
    const found = await this.#options.store.find(this.#kind, namespace, name);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }

  #tell(key: string, error: unknown, durationMs: number): void {
    const { name, log } = this.#options;
    log.warn({ op: `${name}.reconcile`, key, durationMs, err: error }, "reconcile failed, trying again");
  }
}

/** FNV-1a: the same key is always in the same share. */
function shareOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % resyncShares;
}

import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { Log } from "../../domain/log.ts";
import type { Informer } from "./informer.ts";
import { keyOf, parseKey } from "./informer.ts";
import { noControllerMetrics, type ControllerMetrics, type PassResult } from "./metrics.ts";
import { WorkQueue, type Verdict } from "./work-queue.ts";

/** Reconciles one resource. Throws to retry. @returns ms until the next pass, if one is needed */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<number | undefined>;

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Reads without the cache, which may miss a deletion. */
  readonly store: Pick<ResourceStore, "find">;
  readonly concurrency: number;
  /** Period in which each resource of the first watched kind is reconciled again, spread evenly. Default: 30 minutes. */
  readonly resyncMs?: number;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
}

const defaultResyncMs = 30 * 60_000;
/** Spreads a resync: ten thousand keys at once would delay changes and load the API server. */
const resyncShares = 60;

/**
 * Reconciles the resources of a kind: one pass at a time per resource, again after a change, with backoff after a failure. Works between
 * `start` and `stop`. It can be restarted, and then reconciles everything.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #metrics: ControllerMetrics;
  /** All keys: those of the first watched kind. */
  #all: () => Iterable<string> = () => [];
  /** Of the first watched kind. */
  #kind: Kind | undefined;
  #queue: WorkQueue | undefined;
  #resync: NodeJS.Timeout | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? noControllerMetrics;
  }

  /** Reconciles each changed resource, or the keys that `map` returns for it. The first watched informer is the controller's own kind. */
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

  /** Adds a key that is not a resource: reconciled after each start, and again when its pass asks for it. */
  always(key: string): this {
    const all = this.#all;
    this.#all = () => [...all(), key];
    return this;
  }

  /** Requests a pass for a reason that no informer reports. Ignored while stopped: a start reconciles everything. */
  add(key: string): void {
    this.#queue?.add(key);
  }

  /** Requests a pass for all matching keys. */
  addAll(matches: (key: string) => boolean): void {
    for (const key of this.#all()) if (matches(key)) this.add(key);
  }

  /** True when nothing is queued or running. */
  get idle(): boolean {
    return this.#queue?.idle !== false;
  }

  start(): void {
    const { concurrency, random, resyncMs = defaultResyncMs } = this.#options;
    const queue = new WorkQueue(
      { concurrency, baseDelayMs: 200, maxDelayMs: 60_000, random, metrics: this.#metrics.queue },
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

  /** Starts no new passes and waits for running ones. */
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
      const requeueAfterMs = await this.#options.reconcile(key, signal);
      done(requeueAfterMs === undefined ? "done" : "again");
      return requeueAfterMs === undefined ? { outcome: "done" } : { outcome: "done", requeueAfterMs };
    } catch (error) {
      const isOrdinary = error instanceof Conflict || (error instanceof NotFound && (await this.#isEnding(key)));
      done(isOrdinary ? "conflict" : "error");
      if (!signal.aborted && !isOrdinary) this.#logFailure(key, error, performance.now() - startedAt);
      return { outcome: "failed" };
    }
  }

  /** When a resource is deleted during its pass, reads and writes may fail. The next pass finds it gone. */
  async #isEnding(key: string): Promise<boolean> {
    if (this.#kind === undefined) return false;
    const { namespace, name } = parseKey(key);
    const found = await this.#options.store.find(this.#kind, namespace, name);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  }

  #logFailure(key: string, error: unknown, durationMs: number): void {
    const { name, log } = this.#options;
    log.warn({ op: `${name}.reconcile`, key, durationMs, err: error }, "reconcile failed, trying again");
  }
}

/** FNV-1a: a key always has the same share. */
function shareOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % resyncShares;
}

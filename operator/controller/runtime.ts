import type { Kind } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Log } from "../../domain/log.ts";
import { CachedStore } from "./cached-store.ts";
import { Controller, type Reconcile } from "./controller.ts";
import { Informer } from "./informer.ts";
import { alwaysLeads, type Leadership } from "./leadership.ts";
import type { ControllerMetrics } from "./metrics.ts";

export interface RuntimeOptions {
  readonly store: ResourceStore;
  readonly random: () => number;
  readonly log: Log;
  /** Default: this process always leads. */
  readonly leadership?: Leadership;
  readonly metrics?: (controller: string) => ControllerMetrics;
  /** Called when this process starts to reconcile, and when it has stopped. */
  readonly onLead?: (leads: boolean) => void;
  /** See {@link Controller}. */
  readonly resyncMs?: number;
  /** Called with each cache before it is filled, for observers of all kinds. */
  readonly onCache?: <S, T>(informer: Informer<S, T>) => void;
}

/** The caches and controllers of an operator. All processes fill their caches, so that a new leader starts at once; only it reconciles. */
export class Runtime {
  /** For reconcilers: reads from the caches, writes to the real store while this process leads. */
  readonly store: CachedStore;
  readonly #options: RuntimeOptions;
  readonly #leadership: Leadership;
  readonly #informers: { start(): Promise<void>; stop(): Promise<void>; readonly hasSynced: boolean }[] = [];
  readonly #controllers = new Map<string, Controller>();
  #campaign: { stop(): Promise<void> } | undefined;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#leadership = options.leadership ?? alwaysLeads();
    this.store = new CachedStore(options.store, () => {
      if (!this.#leadership.leads) throw new Unavailable("this operator is no longer the leader: the leader will write");
    });
  }

  /** Caches a kind. */
  cache<S, T>(kind: Kind<S, T>): Informer<S, T> {
    const onError = (error: unknown): void =>
      this.#options.log.warn({ op: "resource.watch", kind: kind.kind, err: error }, "watch ended, listing again");
    const informer = new Informer(this.#options.store, kind, { onError });
    this.store.cache(informer);
    this.#informers.push(informer);
    this.#options.onCache?.(informer);
    return informer;
  }

  /** @param concurrency passes at a time */
  reconcile(name: string, concurrency: number, reconcile: Reconcile): Controller {
    const { store, random, log, metrics, resyncMs } = this.#options;
    const controller = new Controller({
      name,
      concurrency,
      reconcile,
      store,
      random,
      log,
      ...(metrics === undefined ? {} : { metrics: metrics(name) }),
      ...(resyncMs === undefined ? {} : { resyncMs }),
    });
    this.#controllers.set(name, controller);
    return controller;
  }

  /** Resolves when the caches are filled, then campaigns for leadership. @throws Unavailable */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#informers.map((informer) => informer.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#campaign = this.#leadership.campaign((signal) => this.#lead(signal));
  }

  /** Waits for running passes, then releases leadership. */
  async stop(): Promise<void> {
    await this.#campaign?.stop();
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  /** Requests passes of a controller, by its name, for a reason that no cache reports. */
  requeue(controller: string, keys: Iterable<string>): void {
    for (const key of keys) this.#controllers.get(controller)?.add(key);
  }

  /** Requests a pass for all resources of a namespace, for a reason outside of them. */
  requeueNamespace(namespace: string): void {
    for (const controller of this.#controllers.values()) controller.addAll((key) => key.startsWith(`${namespace}/`));
  }

  /** Are all caches filled? */
  get hasSynced(): boolean {
    return this.#informers.every((informer) => informer.hasSynced);
  }

  /** True when nothing is queued or running. */
  get idle(): boolean {
    return [...this.#controllers.values()].every(({ idle }) => idle);
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onLead?.(true);
    for (const controller of this.#controllers.values()) controller.start();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.all([...this.#controllers.values()].map((controller) => controller.stop()));
    this.#options.onLead?.(false);
  }
}

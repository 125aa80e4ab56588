import type { Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Log } from "../ports.ts";
import { CachedStore } from "./cached-store.ts";
import { Controller, type Reconcile } from "./controller.ts";
import { Informer } from "./informer.ts";
import { leadsAlone, type Leadership } from "./leadership.ts";
import type { ControllerMetrics } from "./metrics.ts";

export interface RuntimeOptions {
  readonly store: ResourceStore;
  readonly random: () => number;
  readonly log: Log;
  /** Default: this process leads. */
  readonly leadership?: Leadership;
  readonly metrics?: (controller: string) => ControllerMetrics;
  /** Told when this process begins to reconcile, and when it has ended. */
  readonly onLead?: (leads: boolean) => void;
  /** See {@link Controller}. */
  readonly resyncMs?: number;
  /** Told of each cache before it is filled: whoever wants to hear of all resources of all kinds. */
  readonly onCache?: <S, T>(informer: Informer<S, T>) => void;
}

/** The caches and controllers of an operator. Caches are filled in every process, so that a new leader begins at once; the leader alone reconciles. */
export class Runtime {
  /** For reconcilers: reads from the caches, writes to the real store while this process leads. */
  readonly store: CachedStore;
  readonly #options: RuntimeOptions;
  readonly #leadership: Leadership;
  readonly #informers: { start(): Promise<void>; stop(): Promise<void>; readonly hasSynced: boolean }[] = [];
  readonly #controllers: Controller[] = [];
  #campaign: { stop(): Promise<void> } | undefined;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#leadership = options.leadership ?? leadsAlone();
    this.store = new CachedStore(options.store, () => {
      if (!this.#leadership.leads) throw new Unavailable("this operator does not lead any more: the one that does will write");
    });
  }

  /** Caches a kind. @param project what the cache keeps of a resource */
  cache<S, T>(kind: Kind<S, T>, project?: (resource: Resource<S, T>) => Resource<S, T>): Informer<S, T> {
    const onError = (error: unknown): void =>
      this.#options.log.warn({ op: "resource.watch", kind: kind.kind, err: error }, "watch ended, listing again");
    const informer = new Informer(this.#options.store, kind, { onError, ...(project === undefined ? {} : { project }) });
    this.store.cache(informer);
    this.#informers.push(informer);
    this.#options.onCache?.(informer);
    return informer;
  }

  /** @param concurrency resources worked on at a time */
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
    this.#controllers.push(controller);
    return controller;
  }

  /** Resolves when the caches are filled; leads from then on, if it is its turn. @throws Unavailable */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#informers.map((informer) => informer.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#campaign = this.#leadership.campaign((signal) => this.#lead(signal));
  }

  /** Ends what is under way, then lets another lead. */
  async stop(): Promise<void> {
    await this.#campaign?.stop();
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  /** Has all resources of a namespace looked at, for a reason outside of them. */
  lookAgain(namespace: string): void {
    for (const controller of this.#controllers) controller.addAll((key) => key.startsWith(`${namespace}/`));
  }

  /** Are the caches filled? */
  get hasSynced(): boolean {
    return this.#informers.every((informer) => informer.hasSynced);
  }

  /** Nothing is waiting to be reconciled, nothing under way. */
  get idle(): boolean {
    return this.#controllers.every(({ idle }) => idle);
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onLead?.(true);
    for (const controller of this.#controllers) controller.start();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    this.#options.onLead?.(false);
  }
}

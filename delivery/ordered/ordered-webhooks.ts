import { isRoutedInOrder, type Route } from "../../domain/source/deployment.ts";
import type { PartitionWork } from "../../domain/invocation/partition-share.ts";
import { pause } from "../../domain/retry.ts";
import { Chains } from "../routing/keyed-chains.ts";
import { commitOf } from "../routing/commit-of.ts";
import { decodeDelivery, encodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { QueueAttempts } from "./queue-attempts.ts";
import { OrderedQueues } from "./ordered-queues.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { OpenPartition, OrderedReading } from "../routing/ports.ts";
import type { OrderedQueueAccess } from "./ports.ts";
import { routeCommit, type Dispatch } from "../routing/router.ts";
import type { Routes, Webhook } from "../routing/routes.ts";
import { untilDone } from "../settle.ts";

/** How often it is looked whether there is anything to route in order, which also says how late a route may be known. */
const skipEveryMs = 5_000;
/** What is being stored, or posted, when another replica takes over, has so long to end; a replica holds a partition for 3 s. */
const [storeMs, postMs] = [1_000, 1_500] as const;

export interface OrderedParts {
  readonly config: DeliveryConfig;
  readonly ports: DeliveryPorts;
  readonly routes: Routes;
  readonly attempts: QueueAttempts;
  /** For webhooks that are not ordered any more. */
  readonly dispatch: Pick<Dispatch, "direct" | "later">;
  readonly signal: AbortSignal;
}

/**
 * The work for ordered webhooks, which one replica does for all: it reads the commits of all partitions in their order, stores what is for
 * ordered webhooks at the end of their queues, and posts it from there. Other replicas send it what they have for such a queue, replays
 * and scheduled events.
 *
 * Two replicas that both think it is theirs, because one had stalled, change nothing of the order: a queue is appended to, and its state
 * is written, only behind what the writer knows.
 */
export class OrderedWebhooks {
  readonly #parts: OrderedParts;
  readonly #reading: OrderedReading;
  readonly #chains = new Chains();
  readonly #appending = new Map<string, Promise<void>>();
  #lines: OrderedQueues | undefined;
  /** Those of the last time that the work was this replica's. */
  #former: OrderedQueues | undefined;
  #open: OpenPartition | undefined;
  /** One change of what is read after the other. */
  #changing: Promise<void> = Promise.resolve();

  constructor(parts: OrderedParts) {
    this.#parts = parts;
    this.#reading = parts.ports.runs.routeInOrder((text, done, subject, position) => {
      const commit = commitOf(text, subject, parts.ports.log);
      const { routes, config, ports } = parts;
      if (commit === undefined || !routes.hasOrdered) return done();
      const listeners = routes.at(position, "ordered");
      const routing = routeCommit(
        { commit, position },
        listeners,
        this.#chains,
        this.#dispatch(),
        config.maxDirectListeners,
        ports.clock.now(),
      );
      routing.then(done, (error: unknown) => {
        // Not done, it is read again by the next owner.
        if (this.#lines !== undefined && !parts.signal.aborted)
          ports.log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed to ordered webhooks");
      });
    });
  }

  /** Takes the work up where the replica before left it. @throws when NATS does not answer */
  async open(): Promise<PartitionWork> {
    const { config, ports, routes, attempts } = this.#parts;
    const lines = new OrderedQueues({ config, ports, attempts, isCurrent: () => ports.replicas.isCurrent() });
    await lines.start(routes, this.#former);
    this.#former = this.#lines = lines;
    if (routes.hasOrdered) await this.#read();
    const skipping = new AbortController();
    const skipped = this.#skip(skipping.signal);
    const requests = await ports.orderedRequests.serve(this.#local(lines));
    return {
      stop: async () => {
        this.#lines = undefined;
        skipping.abort();
        // While NATS is away none of these ends, and the queues must stop before they are opened again.
        await Promise.race([Promise.all([requests.stop(), skipped, this.#close()]), pause(storeMs)]);
        await lines.stop(postMs);
        await ports.runs.publishFloors();
      },
    };
  }

  /** A route has changed. Commits behind its beginning that were read without it are read again: queues leave out what they have. */
  onRoute(before: Route | undefined, route: Route | undefined): void {
    if (this.#lines === undefined || route === undefined || !this.#parts.routes.isRoutedInOrder(route.subscription)) return;
    if (before !== undefined && isRoutedInOrder(before)) return;
    const from = (route.orderedSince ?? route.after)?.seq ?? Number.POSITIVE_INFINITY;
    if (this.#open !== undefined && from >= this.#reading.position()) return;
    void this.#read(from).catch((error: unknown) =>
      this.#parts.ports.log.warn({ op: "line.route", subscription: route.subscription, err: error }, "commits are not read in order yet"),
    );
  }

  /** A webhook's own entry has changed. */
  changed(webhook: string, before: Webhook | undefined, after: Webhook | undefined): void {
    this.#lines?.changed(webhook, before, after);
  }

  /** Deliveries in the queues; 0 where another replica has them. */
  get length(): number {
    return this.#lines?.length ?? 0;
  }

  /** Stores deliveries that belong to no commit. Resolves when they are stored. */
  async append(webhook: string, deliveries: readonly Delivery[]): Promise<void> {
    const { ports, signal } = this.#parts;
    for (const delivery of deliveries) {
      const store = () => this.#queue().append(webhook, encodeDelivery(delivery));
      if (!(await untilDone(store, delivery, ports, signal))) throw new Error("stopped before the delivery was in line");
    }
  }

  /** @throws Unavailable */
  async attemptNow(webhook: string, delivery: string): Promise<boolean> {
    return this.#queue().attemptNow(webhook, delivery);
  }

  #queue(): OrderedQueueAccess {
    return this.#lines === undefined ? this.#parts.ports.orderedRequests.remote : this.#local(this.#lines);
  }

  #local(lines: OrderedQueues): OrderedQueueAccess {
    return {
      append: (webhook, text) => {
        const delivery = decodeDelivery(text);
        // One that is asked for again while it is being stored is stored once.
        const appending = this.#appending.get(delivery.id) ?? lines.append(webhook, [delivery], undefined);
        this.#appending.set(delivery.id, appending);
        return appending.finally(() => this.#appending.delete(delivery.id));
      },
      attemptNow: async (webhook, delivery) => lines.attemptNow(webhook, delivery),
    };
  }

  #dispatch() {
    const { dispatch } = this.#parts;
    const lines = this.#lines;
    return {
      direct: dispatch.direct,
      later: dispatch.later,
      // Its partition's replica schedules it.
      scheduled: () => Promise.resolve(),
      enqueue: async (...[webhook, deliveries, position]: Parameters<Dispatch["enqueue"]>) => {
        if (lines === undefined) throw new Error("another replica has taken over the ordered webhooks");
        await lines.append(webhook, deliveries, position);
      },
    };
  }

  #read(from?: number): Promise<void> {
    return this.#change(async () => {
      void this.#open?.close(); // Never rejects.
      this.#open = await this.#reading.open(from);
    });
  }

  /** Resolves once what was handed out is stored. */
  async #close(): Promise<void> {
    let closing: Promise<void> | undefined;
    await this.#change(() => {
      closing = this.#open?.close();
      this.#open = undefined;
      return Promise.resolve();
    });
    await closing;
  }

  #change(change: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(change);
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  /** While there is nothing to route in order, commits are not read for it. Never rejects. */
  async #skip(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#open === undefined && !this.#parts.routes.hasOrdered) await this.#reading.skip().catch(() => undefined); // Again in a moment.
      await pause(skipEveryMs, signal);
    }
  }

  async stop(): Promise<void> {
    await this.#reading.stop();
  }
}

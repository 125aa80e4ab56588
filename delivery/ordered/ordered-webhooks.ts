import type { PartitionWork } from "../../domain/invocation/partition-share.ts";
import { pause } from "../../domain/retry.ts";
import { isRoutedInOrder, type CommitPosition, type Route } from "../../domain/source/deployment.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { decodeDelivery, encodeDelivery, type Delivery } from "../routing/delivery.ts";
import { KeyedChains } from "../routing/keyed-chains.ts";
import type { OpenPartition, OrderedReading } from "../routing/ports.ts";
import { parseCommit, routeCommit, type CommitDispatch, type Dispatch } from "../routing/router.ts";
import type { Routes, Webhook } from "../routing/routes.ts";
import { settle } from "../settle.ts";
import { OrderedQueues } from "./ordered-queues.ts";
import type { OrderedQueueAccess } from "./ports.ts";
import type { QueueAttempts } from "./queue-attempts.ts";

/** Interval of the check whether any webhook is ordered. It also bounds how late a route may become known. */
const skipIntervalMs = 5_000;
/** Time for stores and posts in flight to end when another replica takes over. A replica has 3 s to hand over a partition. */
const [storeMs, postMs] = [1_000, 1_500] as const;

export interface OrderedParts {
  readonly config: DeliveryConfig;
  readonly ports: DeliveryPorts;
  readonly routes: Routes;
  readonly attempts: QueueAttempts;
  /** For webhooks that are no longer ordered. */
  readonly dispatch: Pick<Dispatch, "attempt" | "schedule">;
  readonly signal: AbortSignal;
}

/**
 * The work for all ordered webhooks, which one replica does at a time. It reads the commits of all partitions in the order of the stream,
 * stores deliveries at the end of the webhooks' queues, and posts them from there. Other replicas send it the replayed and scheduled
 * events that they have for a queue.
 *
 * If a replica stalls and another takes over, both may believe that they hold the work. The order is still kept: appending and saving a
 * state fail unless they follow what the writer has read.
 */
export class OrderedWebhooks {
  readonly #parts: OrderedParts;
  readonly #reading: OrderedReading;
  readonly #chains = new KeyedChains();
  readonly #appending = new Map<string, Promise<void>>();
  /** Undefined while another replica holds the work. */
  #queues: OrderedQueues | undefined;
  /** Queues from the last time that this replica held the work. */
  #previousQueues: OrderedQueues | undefined;
  #open: OpenPartition | undefined;
  /** Serializes opening and closing of the reading. */
  #changing: Promise<void> = Promise.resolve();

  constructor(parts: OrderedParts) {
    this.#parts = parts;
    this.#reading = parts.ports.runs.routeInOrder((text, done, subject, position) => this.#route(text, done, subject, position));
  }

  /** Continues the work of the previous replica. @throws when NATS does not answer */
  async open(): Promise<PartitionWork> {
    const { config, ports, routes, attempts } = this.#parts;
    const ownerOf = (webhook: string): string | undefined => routes.find(webhook)?.owner;
    const queues = new OrderedQueues({ config, ports, attempts, ownerOf, isCurrent: () => ports.replicas.isCurrent() });
    await queues.start(routes, this.#previousQueues);
    this.#previousQueues = this.#queues = queues;
    if (routes.hasOrdered) await this.#startReading();
    const skipping = new AbortController();
    const skipped = this.#skipWhileUnordered(skipping.signal);
    const requests = await ports.orderedRequests.serve(this.#local(queues));
    return {
      stop: async () => {
        this.#queues = undefined;
        skipping.abort();
        // While NATS is away none of these ends, but the queues must stop before another replica opens them.
        await Promise.race([Promise.all([requests.stop(), skipped, this.#stopReading()]), pause(storeMs)]);
        await queues.stop(postMs);
        await ports.runs.publishFloors();
      },
    };
  }

  /** Applies a change of a subscription's route. Commits that were read without it are read again; queues drop what they already have. */
  onRoute(before: Route | undefined, route: Route | undefined): void {
    if (this.#queues === undefined || route === undefined || !this.#parts.routes.isRoutedInOrder(route.subscription)) return;
    if (before !== undefined && isRoutedInOrder(before)) return;
    const from = (route.orderedSince ?? route.after)?.seq ?? Number.POSITIVE_INFINITY;
    if (this.#open !== undefined && from >= this.#reading.position()) return;
    void this.#startReading(from).catch((error: unknown) =>
      this.#parts.ports.log.warn({ op: "line.route", subscription: route.subscription, err: error }, "commits are not read in order yet"),
    );
  }

  /** Applies a change of a webhook's own route. */
  changed(webhook: string, before: Webhook | undefined, after: Webhook | undefined): void {
    this.#queues?.changed(webhook, before, after);
  }

  /** Number of queued deliveries; 0 while another replica holds the queues. */
  get length(): number {
    return this.#queues?.length ?? 0;
  }

  /** Queues deliveries that belong to no commit. Resolves once they are stored. */
  async append(webhook: string, deliveries: readonly Delivery[]): Promise<void> {
    const { ports, signal } = this.#parts;
    for (const delivery of deliveries) {
      const store = () => this.#access().append(webhook, encodeDelivery(delivery));
      if (!(await settle(store, delivery, ports, signal))) throw new Error("stopped before the delivery was queued");
    }
  }

  /** @throws Unavailable */
  async attemptNow(webhook: string, delivery: string): Promise<boolean> {
    return this.#access().attemptNow(webhook, delivery);
  }

  async stop(): Promise<void> {
    await this.#reading.stop();
  }

  #route(text: string, done: () => void, subject: string, position: CommitPosition): void {
    const { routes, config, ports, signal } = this.#parts;
    const commit = parseCommit(text, subject, ports.log);
    if (commit === undefined || !routes.hasOrdered) return done();
    const listeners = routes.at(position, "ordered");
    const { maxDirectListeners } = config;
    const routing = routeCommit({ commit, position }, listeners, this.#chains, this.#dispatch(), maxDirectListeners, ports.clock.now());
    routing.then(done, (error: unknown) => {
      // A commit that is not done is read again by the next replica.
      if (this.#queues !== undefined && !signal.aborted)
        ports.log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed to ordered webhooks");
    });
  }

  #dispatch(): CommitDispatch {
    const { attempt, schedule } = this.#parts.dispatch;
    const queues = this.#queues;
    return {
      attempt,
      schedule,
      // The replica that holds the commit's partition schedules them.
      scheduleEvent: () => Promise.resolve(),
      send: () => Promise.resolve(),
      enqueue: async (webhook, deliveries, position) => {
        if (queues === undefined) throw new Error("another replica has taken over the ordered webhooks");
        await queues.append(webhook, deliveries, position);
      },
    };
  }

  #access(): OrderedQueueAccess {
    return this.#queues === undefined ? this.#parts.ports.orderedRequests.remote : this.#local(this.#queues);
  }

  #local(queues: OrderedQueues): OrderedQueueAccess {
    return {
      append: (webhook, text) => {
        const delivery = decodeDelivery(text);
        // A delivery that is requested again while it is being stored is stored once.
        const appending = this.#appending.get(delivery.id) ?? queues.append(webhook, [delivery], undefined);
        this.#appending.set(delivery.id, appending);
        return appending.finally(() => this.#appending.delete(delivery.id));
      },
      attemptNow: async (webhook, delivery) => queues.attemptNow(webhook, delivery),
    };
  }

  #startReading(from?: number): Promise<void> {
    return this.#change(async () => {
      void this.#open?.close(); // Never rejects.
      this.#open = await this.#reading.open(from);
    });
  }

  /** Resolves once the commits that were handed out are stored. */
  async #stopReading(): Promise<void> {
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

  /** Raises the floor without reading commits, while no webhook is ordered. Never rejects. */
  async #skipWhileUnordered(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#open === undefined && !this.#parts.routes.hasOrdered) await this.#reading.skip().catch(() => undefined); // Repeated below.
      await pause(skipIntervalMs, signal);
    }
  }
}

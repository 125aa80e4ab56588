import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../domain/log.ts";
import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import { scheduledEventKey, scheduledEvents } from "../../domain/subjects.ts";
import { assertSettled, settle } from "../settle.ts";
import { scheduledMessageId, type Delivery, type ScheduledEvent } from "./delivery.ts";
import type { HandedOver } from "./handed-over.ts";
import type { FirstAttempt, FirstAttempts, OrderedAppends, OrderedDeliveries, Schedules } from "./ports.ts";

/** Where the events of deliveries come from, and what follows from it. */
export interface Origin {
  /** The commit that is being routed. Absent: the events are replayed, or were scheduled and are due. */
  readonly commit?: RoutedCommit;
  /** Bounds the rate of posts. Absent: no bound. */
  readonly pace?: Pace;
}

export interface CommitOrigin extends Origin {
  readonly commit: RoutedCommit;
}

interface RoutedCommit {
  readonly position: CommitPosition;
  /**
   * The ordered queues of the partition when the commit was read: after another replica has taken over, this one must not go on with its
   * commits in the queues that it opens next. Undefined: they are closed.
   */
  readonly queues: OrderedDeliveries | undefined;
}

export interface Pace {
  /** Milliseconds by which a delivery that could be posted at `atMs` (epoch ms) must wait. Counts it. */
  waitMs(delivery: Delivery, atMs: number): number;
}

export interface DispatchParts {
  readonly deliverer: FirstAttempts;
  /** The ordered queues of all replicas. */
  readonly ordered: OrderedAppends;
  readonly handedOver: Pick<HandedOver, "admit">;
  readonly ports: { readonly deliveries: Schedules; readonly clock: Clock; readonly log: Pick<Log, "warn" | "error"> };
  readonly signal: AbortSignal;
}

/**
 * Hands deliveries to the deliverer, or to the queues of ordered webhooks. Each promise resolves once the delivery is delivered or is a
 * stored message of its own; until then each step is repeated. Rejects when delivery stops.
 */
export class Dispatch {
  readonly #parts: DispatchParts;

  constructor(parts: DispatchParts) {
    this.#parts = parts;
  }

  /**
   * Makes the first attempt now.
   *
   * @param route undefined for a send
   * @param waitedMs time that the delivery waited for earlier ones of its source and listener
   */
  attempt(delivery: Delivery, route: Route | undefined, waitedMs: number, { commit, pace }: Origin): Promise<void> {
    const first = { route, waitedMs, atMs: this.#parts.ports.clock.now() };
    const waitMs = pace?.waitMs(delivery, first.atMs) ?? 0;
    if (waitMs > 0) return this.#schedule(delivery, first.atMs + Math.ceil(waitMs));
    // A source recognizes only so many events that a crash repeats.
    if (commit === undefined || route?.listener.kind !== "source") return this.#attempt(delivery, first);
    return this.#parts.handedOver.admit(route.listener.id, commit.position.seq).then(() => this.#attempt(delivery, first));
  }

  /** Stores the delivery as a message of its own that is due at `atMs` (epoch ms). */
  schedule(delivery: Delivery, atMs: number, { pace }: Origin): Promise<void> {
    return this.#schedule(delivery, pace === undefined ? atMs : atMs + Math.ceil(pace.waitMs(delivery, atMs)));
  }

  /** Delivers events of one source to an ordered webhook, after those of earlier calls. */
  enqueue(deliveries: readonly Delivery[], { commit }: Origin): Promise<void> {
    if (commit === undefined) return this.#parts.ordered.append(deliveries);
    return commit.queues?.deliver(deliveries) ?? Promise.reject(new Error("the partition is closed"));
  }

  /** Stores an event until its `delivery_ts`. Its listeners are determined then. */
  scheduleEvent(scheduled: ScheduledEvent): Promise<void> {
    const { ports, signal } = this.#parts;
    const { emitId, deliverAt = 0 } = scheduled.event;
    return settle(() => this.rescheduleEvent(scheduled, deliverAt), { id: emitId }, ports, signal).then(assertSettled);
  }

  /** Stores an event until `atMs` (epoch ms). Rejects if NATS does not store it: its message, which is due, is then not acked. */
  rescheduleEvent(scheduled: ScheduledEvent, atMs: number): Promise<void> {
    const { source, emitId } = scheduled.event;
    const key = scheduledEventKey(source, emitId);
    const messageId = scheduledMessageId(emitId, atMs, scheduled.dueSequence);
    return this.#parts.ports.deliveries.schedule(scheduledEvents, key, JSON.stringify(scheduled), atMs, messageId);
  }

  #attempt(delivery: Delivery, first: FirstAttempt): Promise<void> {
    return this.#settle(() => this.#parts.deliverer.attemptFirst(delivery, first), delivery);
  }

  #schedule(delivery: Delivery, atMs: number): Promise<void> {
    return this.#settle(() => this.#parts.deliverer.schedule(delivery, atMs), delivery);
  }

  /** Repeats a step of the deliverer until it succeeds, or gives the delivery up. */
  #settle(step: () => Promise<unknown>, delivery: Delivery): Promise<void> {
    const { deliverer, ports, signal } = this.#parts;
    return settle(step, delivery, ports, signal, (error) => deliverer.abandon(delivery, error)).then(assertSettled);
  }
}

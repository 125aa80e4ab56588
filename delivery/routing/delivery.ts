import type { Replay } from "../../domain/event/replay.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import type { TraceContext } from "../../domain/traces.ts";

/** One event on its way to one listener, stored as JSON. It has everything an attempt needs except the route, which may change. */
export interface Delivery {
  /** `<emit id>.<subscription>`: the same however often the delivery is repeated. */
  readonly id: string;
  readonly subscription: string;
  readonly listener: string;
  readonly event: RoutedEvent;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Of a redelivery, the number of attempts before it became a dead letter. The retry schedule starts again after them. */
  readonly attemptsBefore?: number;
  /** It is attempted by the replica with the queue of its source and its ordered webhook. */
  readonly inOrder?: true;
  /** Sequence of the last due message of the delivery; absent: it was not stored yet. */
  readonly dueSequence?: number;
}

export interface RoutedEvent extends EventContext {
  readonly emitId: string;
  readonly eventId: string;
  readonly source: string;
  readonly owner: string;
  /** "" is the default channel. */
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
}

/** What an event carries besides its payload and ids. The trace context is that of its commit or of its replay. */
export interface EventContext extends TraceContext {
  /** Epoch ms. */
  readonly ts: number;
  /** The id given to `$emit`; absent if there was none. */
  readonly dedupeId?: string;
  readonly summary?: string;
  readonly deliverAt?: number;
  /** Of the run that emitted it. */
  readonly hops?: number;
  /** The last sources and workflows on the event's way to that run. */
  readonly way?: readonly string[];
  /** Of a delivery between runs of workflows: what its invocation says in place of, or besides, the event. */
  readonly invocation?: Pick<Invocation, "run" | "caller" | "resume" | "returned" | "control">;
  /** Present on replayed events. */
  readonly replay?: Replay;
  /** The whole payload, a compact JWE, if the payload lacks credentials: of a send that was a dead letter. */
  readonly sealed?: string;
}

/** An event that is not due yet, stored as JSON in a message that becomes due at the event's `delivery_ts`. */
export interface ScheduledEvent {
  /** The event as it will be emitted, under its later id. */
  readonly event: RoutedEvent;
  /** The run that scheduled it; absent: an earlier version did. */
  readonly run?: string;
  /** Its id in the list of scheduled events. */
  readonly listedId: string;
  /** Position of the commit that scheduled it. */
  readonly position: CommitPosition;
  /** Sequence of its last due message; absent: it was not due yet. */
  readonly dueSequence?: number;
}

/** What a delivery is about; the same for each of its attempts. */
export interface DeliverySubject {
  /** Id of the delivery. */
  readonly delivery: string;
  readonly webhook: string;
  readonly subscription: string;
  readonly owner: string;
  /** Public id of the emitter. */
  readonly source: string;
  /** Event id, `<epoch ms>-<sequence>`. */
  readonly event: string;
  readonly emitId: string;
  /** "" is the default channel. */
  readonly channel: string;
}

export function firstDelivery(event: RoutedEvent, route: Route): Delivery {
  return {
    id: `${event.emitId}.${route.subscription}`,
    subscription: route.subscription,
    listener: route.listener.id,
    event,
    attempt: 1,
  };
}

export function subjectOf({ id, subscription, listener, event }: Delivery): DeliverySubject {
  const { owner, source, eventId, emitId, channel } = event;
  return { delivery: id, webhook: listener, subscription, owner, source, event: eventId, emitId, channel };
}

/** Epoch ms from which the event could be delivered: its commit (read from its id), its `delivery_ts`, or the request of its replay. */
export function dueSince({ event }: Delivery, fallback: number): number {
  if (event.replay !== undefined) return event.replay.at;
  return Math.max(committedAt(event.eventId) ?? fallback, event.deliverAt ?? 0);
}

/** Epoch ms of the event's commit. */
export function committedAt(eventId: string): number | undefined {
  const committed = Number(eventId.split("-")[0]);
  return Number.isFinite(committed) ? committed : undefined;
}

/**
 * Id of the message of a scheduled delivery or event. NATS drops a message whose id it has seen within two minutes. The sequence of the due
 * message that it replaces keeps the id unique, even if the clock of a replica is behind and gives a time that was used before.
 */
export function scheduledMessageId(name: string, atMs: number, dueSequence: number | undefined): string {
  return dueSequence === undefined ? `${name}@${atMs}` : `${name}@${atMs}.${dueSequence}`;
}

export function encodeDelivery(delivery: Delivery): string {
  return JSON.stringify(delivery);
}

export function decodeDelivery(text: string): Delivery {
  return JSON.parse(text) as Delivery; // Only this role writes to the stream.
}

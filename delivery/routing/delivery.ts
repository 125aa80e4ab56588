import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import type { Carried, DeadLetter, DeliverySubject } from "../ports.ts";

/** One event on its way to one listener. Travels as JSON; everything an attempt needs but the route, which may change meanwhile. */
export interface Delivery {
  /** `<emit id>.<subscription>`: the same however often it is repeated. */
  readonly id: string;
  readonly subscription: string;
  readonly listener: string;
  readonly event: RoutedEvent;
  /** Number of the attempt this is; the first is 1. */
  readonly attempt: number;
  /** Of a dead letter that is delivered again: the attempts before that. The waits begin anew after them. */
  readonly attemptsBefore?: number;
}

export interface RoutedEvent extends Carried {
  readonly emitId: string;
  readonly eventId: string;
  readonly source: string;
  readonly owner: string;
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
}

/** An event that is not due yet. Travels as JSON in a message that becomes due at its `delivery_ts`. */
export interface ScheduledEvent {
  /** As it will be emitted: under its later id. */
  readonly event: RoutedEvent;
  /** Under which it is listed until then. */
  readonly listedId: string;
  /** Of the commit that scheduled it. */
  readonly position: CommitPosition;
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

/** A delivery that nobody will try again, with all that its event carries: what is delivered again is to look as it did. */
export function deadLetter(delivery: Delivery, reason: string, diedAt: number): DeadLetter {
  const { id, listener: webhook, subscription, event, attempt: attempts } = delivery;
  const { emitId, eventId, source, owner, channel, payload, ...carried } = event;
  const subject = { delivery: id, webhook, subscription, owner, source, event: eventId, emitId, channel };
  return { ...subject, attempts, reason, diedAt, payload, carried };
}

/** A dead letter to be delivered again: the next attempt, under the same id. */
export function redelivery(letter: DeadLetter): Delivery {
  const { delivery, subscription, webhook, emitId, event: eventId, source, owner, channel, payload, attempts } = letter;
  const carried = letter.carried ?? { ts: committedAt(eventId) ?? letter.diedAt };
  const event: RoutedEvent = { ...carried, emitId, eventId, source, owner, channel, payload };
  return { id: delivery, subscription, listener: webhook, event, attempt: attempts + 1, attemptsBefore: attempts };
}

export function subjectOf({ id, subscription, listener, event }: Delivery): DeliverySubject {
  const { owner, source, eventId, emitId, channel } = event;
  return { delivery: id, webhook: listener, subscription, owner, source, event: eventId, emitId, channel };
}

/** Epoch ms from which on its event could be delivered: its commit, which its id tells, the time it asked for, or that of its replay. */
export function dueSince({ event }: Delivery, otherwise: number): number {
  if (event.replay !== undefined) return event.replay.at;
  return Math.max(committedAt(event.eventId) ?? otherwise, event.deliverAt ?? 0);
}

/** Epoch ms. */
function committedAt(eventId: string): number | undefined {
  const committed = Number(eventId.split("-")[0]);
  return Number.isFinite(committed) ? committed : undefined;
}

export function encodeDelivery(delivery: Delivery): string {
  return JSON.stringify(delivery);
}

export function decodeDelivery(text: string): Delivery {
  return JSON.parse(text) as Delivery; // Only this role writes to the stream.
}

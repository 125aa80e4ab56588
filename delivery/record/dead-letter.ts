import { committedAt, type Delivery, type DeliverySubject, type EventContext, type RoutedEvent } from "../routing/delivery.ts";

/** A delivery that will not be attempted again unless its owner asks for it. */
export interface DeadLetter extends DeliverySubject {
  readonly attempts: number;
  /** Why it is not attempted again. */
  readonly reason: string;
  /** Epoch ms. */
  readonly diedAt: number;
  /** JSON text of the event. */
  readonly payload: string;
  /** Absent if it was stored by an earlier version. */
  readonly carried?: EventContext;
}

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
}

/** Keeps the whole event, so that a redelivery looks like the original delivery. */
export function deadLetter(delivery: Delivery, reason: string, diedAt: number): DeadLetter {
  const { id, listener: webhook, subscription, event, attempt: attempts } = delivery;
  const { emitId, eventId, source, owner, channel, payload, ...carried } = event;
  const subject = { delivery: id, webhook, subscription, owner, source, event: eventId, emitId, channel };
  return { ...subject, attempts, reason, diedAt, payload, carried };
}

/** The next attempt of a dead letter, under the same delivery id. */
export function redelivery(letter: DeadLetter): Delivery {
  const { delivery, subscription, webhook, emitId, event: eventId, source, owner, channel, payload, attempts } = letter;
  const carried = letter.carried ?? { ts: committedAt(eventId) ?? letter.diedAt };
  const event: RoutedEvent = { ...carried, emitId, eventId, source, owner, channel, payload };
  return { id: delivery, subscription, listener: webhook, event, attempt: attempts + 1, attemptsBefore: attempts };
}

import type { Route } from "../domain/deployment.ts";
import type { Replay } from "../domain/replay.ts";
import type { TraceContext } from "../domain/traces.ts";
import type { DeadLetter, DeliverySubject } from "./ports.ts";

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

/** What attempts follow from is the trace context of its commit, or of its replay. */
export interface RoutedEvent extends TraceContext {
  readonly emitId: string;
  readonly eventId: string;
  readonly source: string;
  readonly owner: string;
  readonly channel: string;
  /** Epoch ms. */
  readonly ts: number;
  /** JSON text. */
  readonly payload: string;
  /** The id given to `$emit`; absent: none. */
  readonly dedupeId?: string;
  readonly summary?: string;
  readonly deliverAt?: number;
  /** Of the run that emitted it. */
  readonly hops?: number;
  /** The last sources on its way to that run. */
  readonly way?: readonly string[];
  /** Set for one that is delivered once more because somebody asked for it. */
  readonly replay?: Replay;
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

/** A dead letter to be delivered again: the next attempt, under the same id. */
export function redelivery(letter: DeadLetter): Delivery {
  const { delivery, subscription, webhook, emitId, event: eventId, source, owner, channel, payload, attempts } = letter;
  const ts = committedAt(eventId) ?? letter.diedAt;
  const event: RoutedEvent = { emitId, eventId, source, owner, channel, ts, payload };
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

import type { Deliverer } from "./deliver.ts";
import { decodeDelivery } from "../routing/delivery.ts";
import type { OrderedWebhooks } from "../ordered/ordered-webhooks.ts";
import { Pending } from "../pending.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { Reading } from "../routing/ports.ts";
import { redeliver } from "./redeliver.ts";
import type { Routes } from "../routing/routes.ts";
import type { ScheduledEvents } from "../routing/scheduled-events.ts";
import { untilDone } from "../settle.ts";

export interface DueParts {
  readonly deliverer: Deliverer;
  readonly routes: Routes;
  readonly ordered: OrderedWebhooks;
  readonly scheduled: ScheduledEvents;
  readonly ports: DeliveryPorts;
  readonly signal: AbortSignal;
}

export interface DueReading extends Reading {
  /** Resolves once what was handed out is settled, or given up because of the signal. */
  idle(): Promise<void>;
}

/** Attempts due deliveries, emits due events, and does what requests for redelivery ask for. A message is acked once its work is settled. */
export async function readDueWork({ deliverer, routes, ordered, scheduled, ports, signal }: DueParts): Promise<DueReading> {
  const pending = new Pending();
  const settle = (
    act: () => Promise<void>,
    about: { readonly id: string },
    ack: () => void,
    giveUp?: (error: Error) => Promise<void>,
  ): void => pending.add(untilDone(act, about, ports, signal, giveUp).then((done) => done && ack()));
  const reading = await ports.deliveries.read({
    onDue: (text, ack) => {
      const delivery = decodeDelivery(text);
      const giveUp = (error: Error): Promise<void> => deliverer.abandon(delivery, error);
      settle(() => deliverer.due(delivery, routes), delivery, ack, giveUp);
    },
    onEvent: (text, ack) => settle(() => scheduled.due(text), { id: "a scheduled event" }, ack),
    onRequest: (request, ack) => settle(() => redeliver(request, routes, ordered, deliverer, ports), { id: request.webhook }, ack),
  });
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}

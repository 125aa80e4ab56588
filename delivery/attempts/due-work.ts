import type { Log } from "../../domain/log.ts";
import { decodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { Pace } from "../routing/dispatch.ts";
import type { Reading } from "../routing/ports.ts";
import type { Routes } from "../routing/routes.ts";
import type { ScheduledEvents } from "../routing/scheduled-events.ts";
import { PendingWork, settle } from "../settle.ts";
import type { Deliverer } from "./deliver.ts";
import type { Deliveries } from "./ports.ts";
import { redeliver, type RedeliverPorts } from "./redeliver.ts";

export interface DueWorkPorts extends RedeliverPorts {
  readonly deliveries: Pick<Deliveries, "schedule" | "findScheduled" | "read">;
  readonly log: Pick<Log, "warn" | "error">;
}

export interface DueParts {
  readonly deliverer: Deliverer;
  readonly routes: Routes;
  /** Attempts the heads of ordered queues. */
  readonly ordered: { attemptDue(delivery: Delivery): Promise<void> };
  readonly scheduled: ScheduledEvents;
  /** At which redelivered dead letters become due. */
  readonly pace: Pace;
  readonly ports: DueWorkPorts;
  readonly signal: AbortSignal;
}

export interface DueReading extends Reading {
  /** Resolves once everything that was handed out is settled, or given up because of the signal. */
  idle(): Promise<void>;
}

/** Attempts due deliveries, emits due events and executes redelivery requests. Acks each message once its work is settled. */
export async function readDueWork({ deliverer, routes, ordered, scheduled, pace, ports, signal }: DueParts): Promise<DueReading> {
  const pending = new PendingWork();
  const run = (
    act: () => Promise<void>,
    subject: { readonly id: string },
    ack: () => void,
    giveUp?: (error: Error) => Promise<void>,
  ): void => pending.add(settle(act, subject, ports, signal, giveUp).then((settled) => settled && ack()));
  const reading = await ports.deliveries.read({
    onDue: (text, seq, ack) => {
      const delivery = { ...decodeDelivery(text), dueSequence: seq };
      const giveUp = (error: Error): Promise<void> => deliverer.abandon(delivery, error);
      const attempt = () => (delivery.inOrder === true ? ordered.attemptDue(delivery) : deliverer.attemptDue(delivery));
      run(attempt, delivery, ack, giveUp);
    },
    onEvent: (text, seq, ack) => run(() => scheduled.emit(text, seq), { id: "a scheduled event" }, ack),
    onRequest: (request, ack) => run(() => redeliver(request, { routes, deliverer, pace }, ports), { id: request.webhook }, ack),
  });
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}

import type { DisabledWebhook } from "../../domain/delivery/webhook-failures.ts";
import type { Log } from "../../domain/log.ts";
import { errorData } from "../../domain/run/derived-events.ts";
import { encodeDelivery, firstDelivery, type Delivery, type RoutedEvent } from "../routing/delivery.ts";
import type { Schedules } from "../routing/ports.ts";
import type { Routes } from "../routing/routes.ts";

/**
 * Emits an error event on `$errors` of the source whose delivery disabled a webhook, to all listeners except that webhook. Each delivery
 * becomes a message at once instead of waiting in a chain, because the chain waits for the delivery that called this. Idempotent: a
 * repetition has the same ids and messages.
 */
export async function reportDisabled(
  delivery: Delivery,
  disabled: DisabledWebhook,
  routes: Routes,
  { deliveries, log }: { readonly deliveries: Schedules; readonly log: Pick<Log, "warn"> },
): Promise<void> {
  log.warn({ op: "webhook.disable", "webhook.id": delivery.listener, reason: disabled.reason }, disabled.message);
  const event = errorEvent(delivery, disabled);
  const listeners = routes.listeners(event).filter(({ listener }) => listener.id !== delivery.listener);
  await Promise.all(
    listeners.map((route) => {
      const report = firstDelivery(event, route);
      return deliveries.schedule(report.listener, report.id, encodeDelivery(report), disabled.at, report.id);
    }),
  );
}

/** Has the form of a run's error event; `id` in its context is that of the delivery. */
function errorEvent({ id, listener, event }: Delivery, { at, reason, message }: DisabledWebhook): RoutedEvent {
  const { source, owner, eventId, hops, way } = event;
  const context = { id, at, emitter: source, owner, deployment: null, trigger: "delivery" } as const;
  const data = errorData(context, { code: "webhook_disabled", name: reason, message }, null);
  const payload = JSON.stringify({ ...data, original_context: { ...data.original_context, event_id: eventId, webhook_id: listener } });
  const emitId = `${id.replaceAll(".", "_")}_disabled`;
  const origin = { ...(hops === undefined ? {} : { hops }), ...(way === undefined ? {} : { way }) };
  return { emitId, eventId: emitId, source, owner, channel: "$errors", ts: at, payload, ...origin };
}

import type { DisabledEndpoint } from "../domain/endpoint-failures.ts";
import { encodeDelivery, firstDelivery, type Delivery, type RoutedEvent } from "./delivery.ts";
import type { DeliveryPorts } from "./ports.ts";
import type { Routes } from "./routes.ts";

/**
 * An error event on `$errors` of the emitter whose delivery had a webhook disabled, to all who listen there but that webhook. Each
 * becomes a message of its own at once, in no chain: that of the delivery waits for us. Told again, ids and messages are the same.
 */
export async function tellDisabled(
  delivery: Delivery,
  disabled: DisabledEndpoint,
  routes: Routes,
  { deliveries, log }: Pick<DeliveryPorts, "deliveries" | "log">,
): Promise<void> {
  log.warn({ op: "webhook.disable", "webhook.id": delivery.listener, reason: disabled.reason }, disabled.message);
  const event = errorEvent(delivery, disabled);
  const listeners = routes.listeners(event).filter(({ listener }) => listener.id !== delivery.listener);
  await Promise.all(
    listeners.map((route) => {
      const told = firstDelivery(event, route);
      return deliveries.schedule(told.listener, told.id, encodeDelivery(told), disabled.at, told.id);
    }),
  );
}

/** In the form of a run's error event (`domain/derived-events.ts`), as far as a delivery has its parts. */
function errorEvent({ id, listener, event }: Delivery, { at, reason, message }: DisabledEndpoint): RoutedEvent {
  const { source, owner, eventId, hops, way } = event;
  const ts = new Date(at).toISOString();
  const emitId = `${id.replaceAll(".", "_")}_disabled`;
  const payload = JSON.stringify({
    original_context: { id, ts, source_id: source, owner_id: owner, event_id: eventId, webhook_id: listener, trigger: "delivery" },
    error: { code: "webhook_disabled", name: reason, message, ts },
  });
  const hopped = { ...(hops === undefined ? {} : { hops }), ...(way === undefined ? {} : { way }) };
  return { emitId, eventId: emitId, source, owner, channel: "$errors", ts: at, payload, ...hopped };
}

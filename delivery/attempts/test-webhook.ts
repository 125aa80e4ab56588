import type { Clock } from "../../domain/clock.ts";
import type { TestedWebhook, WebhookTest } from "../../domain/delivery/webhook-test.ts";
import type { Destinations } from "../destinations/destinations.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import type { Attempts } from "./attempts.ts";

interface TestParts {
  readonly routes: Routes;
  readonly destinations: Pick<Destinations, "at">;
  readonly attempts: Pick<Attempts, "test">;
  readonly clock: Clock;
}

/** Posts one event to a webhook at once, signed like any other, even if it is disabled. Its emitter is the webhook itself. */
export async function testWebhook(
  { webhook: id, owner, emitId, payload }: WebhookTest,
  { routes, destinations, attempts, clock }: TestParts,
): Promise<TestedWebhook> {
  const route = routes.own(id);
  const destination = route && destinations.at(route);
  if (destination?.kind !== "webhook" || routes.webhook(id)?.keys.length === 0) return { outcome: "not-ready" };
  const ts = clock.now();
  const event: Delivery["event"] = { emitId, eventId: `${ts}-0`, source: id, owner, channel: "", ts, payload };
  const delivery = { id: `${emitId}.${id}`, subscription: id, listener: id, event, attempt: 1 };
  const { outcome, at, durationMs } = await attempts.test(delivery, destination);
  const { status } = outcome;
  const isDelivered = outcome.outcome === "delivered";
  const error = isDelivered ? null : outcome.error;
  return { outcome: isDelivered ? "delivered" : "failed", delivery: delivery.id, at, durationMs, status, error };
}

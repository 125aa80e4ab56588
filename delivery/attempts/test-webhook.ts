import type { TestedWebhook, WebhookTest } from "../../domain/delivery/webhook-test.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import type { WebhookAttempts } from "./attempts.ts";

/** Posts one event to a webhook at once, signed like any other. Its emitter is the webhook itself. */
export async function testWebhook(
  { webhook: id, owner, emitId, payload }: WebhookTest,
  routes: Routes,
  attempts: WebhookAttempts,
  { clock }: Pick<DeliveryPorts, "clock">,
): Promise<TestedWebhook> {
  const webhook = routes.webhook(id);
  if (webhook === undefined || webhook.keys.length === 0) return { outcome: "not-ready" };
  const ts = clock.now();
  const event: Delivery["event"] = { emitId, eventId: `${ts}-0`, source: id, owner, channel: "", ts, payload };
  const delivery = { id: `${emitId}.${id}`, subscription: id, listener: id, event, attempt: 1 };
  const { outcome, at, durationMs } = await attempts.test(delivery, webhook);
  const { status } = outcome;
  const isDelivered = outcome.outcome === "delivered";
  const error = isDelivered ? null : outcome.error;
  return { outcome: isDelivered ? "delivered" : "failed", delivery: delivery.id, at, durationMs, status, error };
}

import { webhookHealth, type WebhookHealth, type WebhookOutcomes } from "../domain/delivery/webhook-health.ts";
import { disabledOf } from "../domain/delivery/webhook-failures.ts";
import { verdictOf } from "./source-health.ts";
import { disabledWebhook, postedTo, type WebhookResource } from "./webhook.ts";

/** Computes the health of a webhook from its resource and its latest attempts. */
export function webhookHealthOf(webhook: WebhookResource, outcomes: WebhookOutcomes | undefined, now: number): WebhookHealth {
  const { spec, status } = webhook;
  const target = postedTo(status.id ?? "", spec);
  // Delivery knows it up to ten seconds before the status does.
  const disabled = disabledWebhook(webhook) ?? disabledOf(outcomes?.failures, target);
  return webhookHealth({ target, isActive: spec.active, verdict: verdictOf(webhook), disabled, outcomes, now });
}

/** Epoch ms from which its attempts count. */
export function enabledAt({ spec }: Pick<WebhookResource, "spec">): number {
  return spec.enabledAt === undefined ? 0 : Date.parse(spec.enabledAt);
}

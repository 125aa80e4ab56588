import type { Resource } from "../../crds/resource.ts";
import { disabledWebhook, webhookKind, type WebhookSpec, type WebhookStatus } from "../../crds/webhook.ts";
import { Conflict } from "../../domain/errors.ts";
import type { Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";

export type WebhookResource = Resource<WebhookSpec, WebhookStatus>;

/** The webhook in the path, if the caller may see it. @throws NotFound */
export function webhookOf(call: Call, { access }: ApiContext): Promise<WebhookResource> {
  return access.get(webhookKind, "webhook", pathOf(call, "id"), call.user);
}

/** The public id of the webhook in the path, for its history. @throws NotFound */
export async function webhookIdOf(call: Call, { access }: ApiContext): Promise<string> {
  return publicIdOf(await access.getListed(webhookKind, "webhook", pathOf(call, "id"), call.user));
}

/** @throws Conflict if the webhook is inactive or disabled */
export function checkActive(webhook: WebhookResource): void {
  const disabled = disabledWebhook(webhook);
  if (disabled !== undefined) throw new Conflict(disabled.message, { code: "webhook_disabled" });
  if (webhook.spec.active) return;
  const id = publicIdOf(webhook);
  throw new Conflict(`webhook ${id} is inactive: activate it with PUT /v1/webhooks/${id} and {"active": true}`, {
    code: "webhook_inactive",
  });
}

import { webhookKind, type WebhookSpec } from "../../crds/webhook.ts";
import { changeResource } from "../resources/change.ts";
import type { ApiContext } from "../routes/context.ts";
import type { WebhookChanges } from "./request.ts";
import type { WebhookResource } from "./webhook.ts";

/** What is not given stays, null removes. The operator tells whoever delivers. */
export function changeWebhook(webhook: WebhookResource, changes: WebhookChanges, { ports }: ApiContext): Promise<WebhookResource> {
  return changeResource(webhookKind, ports.store, webhook, ({ spec }) => changedSpec(spec, changes));
}

function changedSpec({ name, description, ...spec }: WebhookSpec, changes: WebhookChanges): WebhookSpec {
  const { url = spec.url, active = spec.active } = changes;
  return {
    ...spec,
    url,
    active,
    ...textOf("name", changes.name, name),
    ...textOf("description", changes.description, description),
  };
}

function textOf(field: "name" | "description", given: string | null | undefined, before: string | undefined): Partial<WebhookSpec> {
  const text = given === undefined ? before : (given ?? undefined);
  return text === undefined ? {} : { [field]: text };
}

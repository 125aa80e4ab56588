import { webhookKind, type WebhookSpec, type WebhookStatus } from "../../crds/webhook.ts";
import { changeResource } from "../resources/change.ts";
import type { ApiContext } from "../routes/context.ts";
import type { WebhookChanges } from "./request.ts";
import type { WebhookResource } from "./webhook.ts";

/** What is not given stays, null removes. The operator tells whoever delivers. */
export function changeWebhook(webhook: WebhookResource, changes: WebhookChanges, { ports }: ApiContext): Promise<WebhookResource> {
  return changeResource(webhookKind, ports.store, webhook, ({ spec, status }) => ({
    ...changedSpec(spec, changes),
    ...enabled(spec, changes, status, ports.clock.now()),
  }));
}

function changedSpec({ name, description, ...spec }: WebhookSpec, changes: WebhookChanges): WebhookSpec {
  const { url = spec.url, active = spec.active, ordered = spec.ordered } = changes;
  return {
    ...spec,
    url,
    active,
    ...(ordered === undefined ? {} : { ordered }),
    ...textOf("name", changes.name, name),
    ...textOf("description", changes.description, description),
  };
}

/** Whoever says that it is active, or where it is now, says that it is to be tried again. The clocks of machines differ a little. */
function enabled({ url }: WebhookSpec, changes: WebhookChanges, { disabled }: WebhookStatus, now: number): Partial<WebhookSpec> {
  if (changes.active !== true && (changes.url ?? url) === url) return {};
  return { enabledAt: new Date(Math.max(now, (disabled?.at ?? 0) + 1)).toISOString() };
}

function textOf(field: "name" | "description", given: string | null | undefined, before: string | undefined): Partial<WebhookSpec> {
  const text = given === undefined ? before : (given ?? undefined);
  return text === undefined ? {} : { [field]: text };
}

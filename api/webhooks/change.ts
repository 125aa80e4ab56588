import { webhookKind, type WebhookSpec, type WebhookStatus } from "../../crds/webhook.ts";
import { showCredentials } from "../../domain/secrets/url-credentials.ts";
import { changeResource } from "../resources/change.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import { addressOf, changedAddress, type Address } from "./address.ts";
import type { WebhookChanges } from "./request.ts";
import type { WebhookResource } from "./webhook.ts";

/** Changes the given fields; null removes a field. The operator passes the change on to the delivery role. */
export async function changeWebhook(webhook: WebhookResource, changes: WebhookChanges, { ports }: ApiContext): Promise<WebhookResource> {
  const { namespace, name } = webhook.metadata;
  const keep = keepOnce({ kind: webhookKind.kind, namespace, name }, ports);
  return changeResource(webhookKind, ports.store, webhook, async ({ spec, status }) => {
    const address = changes.url === undefined ? addressOf(spec) : await changedAddress(spec, changes.url, keep);
    return { ...changedSpec(spec, changes, address), ...enabled(spec, changes, status, ports.clock.now()) };
  });
}

function changedSpec(
  { name, description, url: _url, basicAuth: _basicAuth, ...spec }: WebhookSpec,
  changes: WebhookChanges,
  address: Address,
): WebhookSpec {
  const { active = spec.active, ordered = spec.ordered } = changes;
  return {
    ...spec,
    ...address,
    active,
    ...(ordered === undefined ? {} : { ordered }),
    ...textOf("name", changes.name, name),
    ...textOf("description", changes.description, description),
  };
}

/** Setting `active` or another URL also enables the endpoint again. The time is after that of the disabling, even if clocks differ. */
function enabled({ url, basicAuth }: WebhookSpec, changes: WebhookChanges, { disabled }: WebhookStatus, now: number): Partial<WebhookSpec> {
  const shown = showCredentials(url, basicAuth !== undefined);
  if (changes.active !== true && (changes.url ?? shown) === shown) return {};
  return { enabledAt: new Date(Math.max(now, (disabled?.at ?? 0) + 1)).toISOString() };
}

function textOf(field: "name" | "description", given: string | null | undefined, before: string | undefined): Partial<WebhookSpec> {
  const text = given === undefined ? before : (given ?? undefined);
  return text === undefined ? {} : { [field]: text };
}

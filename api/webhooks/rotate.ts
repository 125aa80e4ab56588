import { webhookKind, type WebhookSpec } from "../../crds/webhook.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import { changeResource } from "../resources/change.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import type { WebhookResource } from "./webhook.ts";

/**
 * Adds a new key in front. The previous key also signs until the overlap ends, a time in the resource that readers of the keys check.
 * Any older key is removed.
 */
export async function rotateKey(
  webhook: WebhookResource,
  overlapMs: number,
  { ports }: ApiContext,
): Promise<{ readonly webhook: WebhookResource; readonly signingKey: string }> {
  const signingKey = formatSigningKey(ports.randomBytes(32));
  const { namespace, name } = webhook.metadata;
  const keep = keepOnce({ kind: webhookKind.kind, namespace, name }, ports);
  const previousKeyUntil = new Date(ports.clock.now() + overlapMs).toISOString();
  const rotated = await changeResource(webhookKind, ports.store, webhook, async ({ spec, status }) => {
    const kept = Object.values(await keep({ key: signingKey }));
    const current = spec.signingKeys[0] ?? status.signingKey;
    if (overlapMs === 0 || current === undefined) return withoutPrevious({ ...spec, signingKeys: kept });
    return { ...spec, signingKeys: [...kept, current], previousKeyUntil };
  });
  return { webhook: rotated, signingKey };
}

/** Only the newest key signs from now on. */
export async function endPreviousKey(webhook: WebhookResource, { ports }: ApiContext): Promise<WebhookResource> {
  return changeResource(webhookKind, ports.store, webhook, ({ spec }) => withoutPrevious(spec));
}

function withoutPrevious({ previousKeyUntil: _, ...spec }: WebhookSpec): WebhookSpec {
  return { ...spec, signingKeys: spec.signingKeys.slice(0, 1) };
}

import type { Resource } from "../../crds/resource.ts";
import type { WebhookSpec, WebhookStatus } from "../../crds/webhook.ts";
import { createdAt, publicIdOf } from "../resources/identity.ts";

/** `created` is added to the answer that tells of the creation, and to no other: the caller and the only sight of the signing key. */
export function webhookResponse(
  webhook: Resource<WebhookSpec, WebhookStatus>,
  created?: { readonly userId: string; readonly signingKey: string },
): object {
  const { name, description, url, active } = webhook.spec;
  const at = createdAt(webhook);
  return {
    id: publicIdOf(webhook),
    ...(created === undefined ? {} : { user_id: created.userId }),
    name: name ?? null,
    description: description ?? null,
    url,
    active,
    created_at: at,
    updated_at: at,
    ...(created === undefined ? {} : { signing_key: created.signingKey }),
  };
}

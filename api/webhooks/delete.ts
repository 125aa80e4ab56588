import { webhookKind } from "../../crds/webhook.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { deleteSubscriptionsTo } from "../subscriptions/of-listener.ts";
import type { WebhookResource } from "./webhook.ts";

/** Deletes the subscriptions first, and afterwards those that were created in the meantime. */
export async function deleteWebhook(webhook: WebhookResource, user: User, context: ApiContext): Promise<void> {
  const { ports } = context;
  const { namespace, name } = webhook.metadata;
  await deleteSubscriptionsTo(publicIdOf(webhook), user, context);
  await unlessDeleted(ports.store.delete(webhookKind, namespace, name));
  await deleteSubscriptionsTo(publicIdOf(webhook), user, context);
  await ports.deliveries.deleteWebhook(publicIdOf(webhook));
}

import { subscriptionKind } from "../../crds/subscription.ts";
import { unlessDeleted } from "../resources/change.ts";
import type { ApiContext } from "../context.ts";
import type { SubscriptionResource } from "./find.ts";

/** Deletes the subscription and waits, up to a limit, until routers have removed it. */
export async function deleteSubscription(
  { metadata: { namespace, name } }: SubscriptionResource,
  { config, ports, subscriptions }: ApiContext,
): Promise<void> {
  const following = subscriptions.follow(namespace, name);
  try {
    await unlessDeleted(ports.store.delete(subscriptionKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}

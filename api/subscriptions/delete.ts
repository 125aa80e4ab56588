import { subscriptionKind } from "../../crds/subscription.ts";
import { unlessGone } from "../resources/change.ts";
import type { ApiContext } from "../routes/context.ts";
import type { SubscriptionResource } from "./find.ts";

/** Waits until routers have forgotten it, or long enough. */
export async function deleteSubscription(
  { metadata: { namespace, name } }: SubscriptionResource,
  { config, ports, subscriptions }: ApiContext,
): Promise<void> {
  const following = subscriptions.follow(namespace, name);
  try {
    await unlessGone(ports.store.delete(subscriptionKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}

import { allOf } from "../../crds/resource-store.ts";
import { subscriptionKind, subscriptionLabels } from "../../crds/subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import type { User } from "../http/ports.ts";
import type { ApiContext } from "../context.ts";
import { deleteAutoSubscriptionsTo } from "./auto-subscription.ts";
import { connectedBy, foreign, type SubscriptionResource } from "./find.ts";

/** Deletes the subscriptions of the user and their organizations to a listener. No other owner can have any. */
export async function deleteSubscriptionsTo(listener: string, user: User, { access, ports }: ApiContext): Promise<void> {
  for (const owner of await access.ownersOf(user)) {
    const namespace = await ports.owners.find(owner);
    if (namespace === undefined) continue;
    await deleteAutoSubscriptionsTo(listener, namespace, ports); // First, because they would create more.
    for await (const { metadata } of subscriptionsTo(listener, namespace, ports)) {
      await ports.store.delete(subscriptionKind, metadata.namespace, metadata.name).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
    }
  }
}

/** Subscriptions that the API created, found by their label, and all others. */
async function* subscriptionsTo(listener: string, namespace: string, ports: ApiContext["ports"]): AsyncIterable<SubscriptionResource> {
  const labels = { [subscriptionLabels.listener]: listener };
  yield* allOf(ports.store, subscriptionKind, { namespace, labels });
  for await (const each of foreign(namespace, ports)) if (connectedBy(each).listener === listener) yield each;
}

import { subscriptionKind } from "../../crds/subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import type { OperatorPorts } from "../ports.ts";
import type { AutoSubscriptionResource } from "../../crds/auto-subscription.ts";
import type { Resource } from "../../crds/resource.ts";

/** Label of a Subscription: uid of the AutoSubscription that made it. */
export const madeBy = "headwater.dev/auto-subscription";
/** Annotation of such a Subscription: its emitter, as `<kind> <namespace>/<name>`. */
export const madeForEmitter = "headwater.dev/auto-subscription-emitter";
/** Annotation of an emitter: uids of the AutoSubscriptions that have subscribed it. Each subscribes it once. */
export const subscribedBy = "headwater.dev/auto-subscribed-by";

/** Cached lookups of AutoSubscriptions and their Subscriptions. */
export interface AutoSubscriptionLookup {
  inNamespace(namespace: string): Iterable<AutoSubscriptionResource>;
  /** Number of existing Subscriptions that it made. */
  countOf(uid: string): number;
  /** Keys of the Subscriptions made for an emitter, `<kind> <namespace>/<name>`. */
  madeFor(emitter: string): Iterable<string>;
}

/** An AutoSubscription covers only emitters created after it. Kubernetes stores whole seconds, so the same second counts as after. */
export function covers(auto: AutoSubscriptionResource, emitter: Resource<unknown, { readonly id?: string | undefined }>): boolean {
  const { since, listener } = auto.status;
  return (
    auto.metadata.deletionTimestamp === undefined &&
    auto.invalid === undefined &&
    since !== undefined &&
    listener !== undefined &&
    listener !== emitter.status.id &&
    Date.parse(emitter.metadata.creationTimestamp) >= Date.parse(since) &&
    !subscribersOf(emitter).includes(auto.metadata.uid)
  );
}

export function subscribersOf({ metadata }: Resource): readonly string[] {
  return (metadata.annotations[subscribedBy] ?? "").split(",").filter((uid) => uid !== "");
}

/** Ignores a Subscription that is already gone. */
export async function endSubscription(key: string, { store }: Pick<OperatorPorts, "store">): Promise<void> {
  const { namespace, name } = parseKey(key);
  await store.delete(subscriptionKind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}

import type { AutoSubscriptionSpec, AutoSubscriptionStatus } from "../../crds/auto-subscription.ts";
import type { Resource } from "../../crds/resource.ts";

export type AutoSubscriptionResource = Resource<AutoSubscriptionSpec, AutoSubscriptionStatus>;

/** Label of a Subscription: uid of the AutoSubscription that made it. */
export const madeBy = "headwater.dev/auto-subscription";
/** Annotation of a Subscription made so: whose events it is for, as `<kind> <namespace>/<name>`. */
export const madeForEmitter = "headwater.dev/auto-subscription-emitter";
/** Annotation of an emitter: uids of the AutoSubscriptions that have subscribed it, once and for all. */
export const subscribedBy = "headwater.dev/auto-subscribed-by";

/** What is known of AutoSubscriptions and what they made, from caches. */
export interface AutoSubscriptionLookup {
  inNamespace(namespace: string): Iterable<AutoSubscriptionResource>;
  /** How many Subscriptions it made that exist. */
  countOf(uid: string): number;
  /** Keys of the Subscriptions made for an emitter, `<kind> <namespace>/<name>`. */
  madeFor(emitter: string): Iterable<string>;
}

/** Those that were there before it are not covered. Kubernetes keeps whole seconds: of the same second counts as later. */
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

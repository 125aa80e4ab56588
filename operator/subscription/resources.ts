import type { Resource } from "../../crds/resource.ts";
import type { SubscriptionSpec, SubscriptionStatus } from "../../crds/subscription.ts";

export type SubscriptionResource = Resource<SubscriptionSpec, SubscriptionStatus>;

import type { Resource } from "../../crds/resource.ts";
import type { SubscriptionSpec, SubscriptionStatus } from "../../crds/subscription.ts";
import { connectedBy } from "./find.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../resources/response.ts";
import type { subscriptionSchema } from "../resources/schemas.ts";

/** An end that does not exist yet is null. */
export function subscriptionResponse(subscription: Resource<SubscriptionSpec, SubscriptionStatus>): Answered<typeof subscriptionSchema> {
  const { emitter, listener, channel } = connectedBy(subscription);
  return { id: publicIdOf(subscription), emitter_id: emitter ?? null, listener_id: listener ?? null, event_name: channel ?? "" };
}

import type { Resource } from "../../crds/resource.ts";
import type { SubscriptionSpec, SubscriptionStatus } from "../../crds/subscription.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import { listeningOf, type AutoSubscriptionResource } from "./auto-subscription.ts";
import { connectedBy } from "./find.ts";
import type { autoSubscriptionSchema, subscriptionSchema } from "./schemas.ts";

/** An end that does not exist yet is null. */
export function subscriptionResponse(subscription: Resource<SubscriptionSpec, SubscriptionStatus>): Answered<typeof subscriptionSchema> {
  const { emitter, listener, channel } = connectedBy(subscription);
  return { id: publicIdOf(subscription), emitter_id: emitter ?? null, listener_id: listener ?? null, event_name: channel ?? "" };
}

/** The listener is null if it does not exist yet. */
export function autoSubscriptionResponse(auto: AutoSubscriptionResource): Answered<typeof autoSubscriptionSchema> {
  const { channel, listener } = listeningOf(auto);
  return { id: publicIdOf(auto), listener_id: listener ?? null, event_name: channel ?? null };
}

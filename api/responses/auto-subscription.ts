import { publicIdOf } from "../resources/identity.ts";
import { listeningBy, type AutoSubscriptionResource } from "../subscriptions/auto-subscription.ts";
import type { Answered } from "./answered.ts";
import type { autoSubscriptionSchema } from "./schemas.ts";

/** A listener that a reference names and that is not there yet is null. */
export function autoSubscriptionResponse(auto: AutoSubscriptionResource): Answered<typeof autoSubscriptionSchema> {
  const { channel, listener } = listeningBy(auto);
  return { id: publicIdOf(auto), listener_id: listener ?? null, event_name: channel ?? null };
}

import { publicIdOf } from "../resources/identity.ts";
import { listeningOf, type AutoSubscriptionResource } from "../subscriptions/auto-subscription.ts";
import type { Answered } from "./answered.ts";
import type { autoSubscriptionSchema } from "./schemas.ts";

/** The listener is null if it does not exist yet. */
export function autoSubscriptionResponse(auto: AutoSubscriptionResource): Answered<typeof autoSubscriptionSchema> {
  const { channel, listener } = listeningOf(auto);
  return { id: publicIdOf(auto), listener_id: listener ?? null, event_name: channel ?? null };
}

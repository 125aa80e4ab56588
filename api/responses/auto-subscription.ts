import { publicIdOf } from "../resources/identity.ts";
import { listeningBy, type AutoSubscriptionResource } from "../subscriptions/auto-subscription.ts";

/** A listener that a reference names and that is not there yet is null. */
export function autoSubscriptionResponse(auto: AutoSubscriptionResource): object {
  const { channel, listener } = listeningBy(auto);
  return { id: publicIdOf(auto), listener_id: listener ?? null, event_name: channel ?? null };
}

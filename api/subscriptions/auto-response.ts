import { publicIdOf } from "../resources/identity.ts";
import { listeningOf, type AutoSubscriptionResource } from "./auto-subscription.ts";
import type { Answered } from "../resources/response.ts";
import type { autoSubscriptionSchema } from "../resources/schemas.ts";

/** The listener is null if it does not exist yet. */
export function autoSubscriptionResponse(auto: AutoSubscriptionResource): Answered<typeof autoSubscriptionSchema> {
  const { channel, listener } = listeningOf(auto);
  return { id: publicIdOf(auto), listener_id: listener ?? null, event_name: channel ?? null };
}

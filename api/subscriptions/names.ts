import { subscriptionLabels } from "../../crds/subscription.ts";
import { derivedId } from "../resources/derived-id.ts";
import type { AutoListening, Connected } from "./request.ts";

/** The id of an owner's subscription follows from what it connects: equal requests make one, and it is found without a search. */
export function subscriptionId(owner: string, { emitter, listener, channel }: Connected): string {
  return derivedId("subscription", JSON.stringify([owner, emitter, listener, channel]));
}

/** Likewise of what subscribes a listener to all that is yet to come. */
export function autoSubscriptionId(owner: string, { listener, channel }: AutoListening): string {
  return derivedId("autoSubscription", JSON.stringify([owner, listener, channel]));
}

/** A glob is no label's value; globs are found by their owner. */
export function labelsOf({ emitter, listener }: Connected): Readonly<Record<string, string>> {
  return {
    [subscriptionLabels.listener]: listener,
    ...(emitter.endsWith("*") ? {} : { [subscriptionLabels.emitter]: emitter }),
  };
}

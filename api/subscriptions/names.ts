import { subscriptionLabels } from "../../crds/subscription.ts";
import { derivedId } from "../resources/derived-id.ts";
import type { AutoListening, Connected } from "./request.ts";

/** Derives a subscription's id from its owner, ends and channel: equal requests create one, which is found without a search. */
export function subscriptionId(owner: string, { emitter, listener, channel }: Connected): string {
  return derivedId("subscription", JSON.stringify([owner, emitter, listener, channel]));
}

/** The same for an auto-subscription. */
export function autoSubscriptionId(owner: string, { listener, channel }: AutoListening): string {
  return derivedId("autoSubscription", JSON.stringify([owner, listener, channel]));
}

/** A glob cannot be a label's value; globs are found by their owner. */
export function labelsOf({ emitter, listener }: Connected): Readonly<Record<string, string>> {
  return {
    [subscriptionLabels.listener]: listener,
    ...(emitter.endsWith("*") ? {} : { [subscriptionLabels.emitter]: emitter }),
  };
}

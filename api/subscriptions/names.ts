import { createHash } from "node:crypto";
import { idPrefixes, type IdKind } from "../../domain/ids.ts";
import type { AutoListening, Connected } from "./request.ts";

/** Labels by which the subscriptions of a listener or an emitter are found. */
export const subscriptionLabels = { listener: "headwater.dev/listener", emitter: "headwater.dev/emitter" } as const;

/**
 * The id of an owner's subscription follows from what it connects: 12 characters of base36, as a random id has. So asking for the same
 * one twice, at once even, makes one, and it is found without a search.
 */
export function subscriptionId(owner: string, { emitter, listener, channel }: Connected): string {
  return idOf("subscription", [owner, emitter, listener, channel]);
}

/** Likewise of what subscribes a listener to all that is yet to come. */
export function autoSubscriptionId(owner: string, { listener, channel }: AutoListening): string {
  return idOf("autoSubscription", [owner, listener, channel]);
}

function idOf(kind: IdKind, parts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return `${idPrefixes[kind]}_${BigInt(`0x${hash}`).toString(36).padStart(50, "0").slice(-12)}`;
}

/** A glob is no label's value; globs are found by their owner. */
export function labelsOf({ emitter, listener }: Connected): Readonly<Record<string, string>> {
  return {
    [subscriptionLabels.listener]: listener,
    ...(emitter.endsWith("*") ? {} : { [subscriptionLabels.emitter]: emitter }),
  };
}

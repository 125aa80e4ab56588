import { createHash } from "node:crypto";
import type { Connected } from "./request.ts";

/** Labels by which the subscriptions of a listener or an emitter are found. */
export const subscriptionLabels = { listener: "headwater.dev/listener", emitter: "headwater.dev/emitter" } as const;

/**
 * The id of an owner's subscription follows from what it connects: 12 characters of base36, as a random id has. So asking for the same
 * one twice, at once even, makes one, and it is found without a search.
 */
export function subscriptionId(owner: string, { emitter, listener, channel }: Connected): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([owner, emitter, listener, channel]))
    .digest("hex");
  return `sub_${BigInt(`0x${hash}`).toString(36).padStart(50, "0").slice(-12)}`;
}

/** A glob is no label's value; globs are found by their owner. */
export function labelsOf({ emitter, listener }: Connected): Readonly<Record<string, string>> {
  return {
    [subscriptionLabels.listener]: listener,
    ...(emitter.endsWith("*") ? {} : { [subscriptionLabels.emitter]: emitter }),
  };
}

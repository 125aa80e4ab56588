import { z } from "zod";
import { text } from "../http/request/parameters.ts";

const listener = text.min(1, "it must not be empty").max(64, "it must be an id").describe("A webhook, source or workflow.");
export const subscriptionFields = z.object({
  emitter_id: text
    .min(1, "it must not be empty")
    .max(64, "it must be an id, dc_* or p_*")
    .describe(
      "A source or workflow, `dc_*` or `p_*` for all of yours, an organization, or your own id for the `$errors` or `$logs` of all of them.",
    ),
  listener_id: listener,
  // Absent, null and empty are the default channel.
  event_name: text
    .max(255, "it must have at most 255 characters")
    .nullish()
    .transform((value) => value ?? "")
    .describe("Name of a channel; empty is the default channel."),
});

export const autoSubscriptionFields = z.object({
  event_name: z.enum(["$errors", "$logs"], "it must be $errors or $logs").describe("The channel."),
  listener_id: listener,
});

/** The ends of a subscription by public id, and its channel; the emitter may be a glob. */
export interface Connected {
  readonly emitter: string;
  readonly listener: string;
  readonly channel: string;
}

export const connectedIn = ({ emitter_id, listener_id, event_name }: z.output<typeof subscriptionFields>): Connected => ({
  emitter: emitter_id,
  listener: listener_id,
  channel: event_name,
});

/** The channel and listener of an auto-subscription. */
export interface AutoListening {
  readonly channel: "$errors" | "$logs";
  readonly listener: string;
}

export const listeningIn = ({ event_name, listener_id }: z.output<typeof autoSubscriptionFields>): AutoListening => ({
  channel: event_name,
  listener: listener_id,
});

import { z } from "zod";
import { parse, text } from "../http/request/parameters.ts";

const listener = text.min(1, "it must not be empty").max(64, "it must be an id");
export const fields = z.object({
  emitter_id: text.min(1, "it must not be empty").max(64, "it must be an id, dc_* or p_*"),
  listener_id: listener,
  // Absent, null and empty are the default channel.
  event_name: text
    .max(255, "it must have at most 255 characters")
    .nullish()
    .transform((value) => value ?? ""),
});

export const autoFields = z.object({
  event_name: z.enum(["$errors", "$logs"], "it must be $errors or $logs"),
  listener_id: listener,
});

/** The ends of a subscription by public id, and its channel; the emitter may be a glob. */
export interface Connected {
  readonly emitter: string;
  readonly listener: string;
  readonly channel: string;
}

export function parseSubscription(parameters: unknown): Connected {
  const { emitter_id, listener_id, event_name } = parse(fields, parameters);
  return { emitter: emitter_id, listener: listener_id, channel: event_name };
}

/** The channel and listener of an auto-subscription. */
export interface AutoListening {
  readonly channel: "$errors" | "$logs";
  readonly listener: string;
}

export function parseAutoSubscription(parameters: unknown): AutoListening {
  const { event_name, listener_id } = parse(autoFields, parameters);
  return { channel: event_name, listener: listener_id };
}

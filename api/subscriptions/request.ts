import { z } from "zod";
import { parse, text } from "../http/parameters.ts";

const fields = z.object({
  emitter_id: text.min(1, "it must not be empty").max(64, "it must be an id, dc_* or p_*"),
  listener_id: text.min(1, "it must not be empty").max(64, "it must be an id"),
  // Missing, null and empty all mean the default channel.
  event_name: text
    .max(255, "it must have at most 255 characters")
    .nullish()
    .transform((value) => value ?? ""),
});

/** What a subscription connects, by public id; the emitter may be a glob. */
export interface Connected {
  readonly emitter: string;
  readonly listener: string;
  readonly channel: string;
}

export function parseSubscription(parameters: unknown): Connected {
  const { emitter_id, listener_id, event_name } = parse(fields, parameters);
  return { emitter: emitter_id, listener: listener_id, channel: event_name };
}

import { z } from "zod";
import { flag, httpUrl, optional, text } from "../http/request/parameters.ts";

const name = text.max(255, "it must have at most 255 characters");
const description = text.max(2_000, "it must have at most 2000 characters");
const about = {
  url: "http or https, with a host name.",
  name: "Display name.",
  description: "For people.",
  ordered:
    "True: events arrive in the order of their commits, one at a time; each waits until the previous one was delivered or became a dead letter.",
};

export const creation = z.object({
  url: httpUrl.describe(about.url),
  name: optional(name).describe(about.name),
  description: optional(description).describe(about.description),
  ordered: flag.optional().describe(about.ordered),
});

/** Absent fields stay, null removes a field. */
export const changes = z.object({
  url: httpUrl.optional().describe(about.url),
  name: name.nullable().optional().describe(about.name),
  description: description.nullable().optional().describe(about.description),
  active: flag.optional().describe("False: the webhook is paused."),
  ordered: flag.optional().describe(about.ordered),
});
export type WebhookChanges = z.infer<typeof changes>;

const maxOverlapSeconds = 7 * 86_400;
const overlapMessage = `it must be an integer from 0 to ${maxOverlapSeconds}`;

export const rotation = z.object({
  overlap_seconds: z.coerce
    .number(overlapMessage)
    .int(overlapMessage)
    .min(0, overlapMessage)
    .max(maxOverlapSeconds, overlapMessage)
    .default(86_400)
    .describe("How long the previous key also signs."),
});

export const test = z.object({ event: z.unknown().optional().describe("The body that is posted; by default a test event.") });

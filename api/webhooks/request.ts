import { z } from "zod";
import { flag, text } from "../http/parameters.ts";
import { httpUrl } from "../sources/request.ts";

const shown = (most: number) => text.max(most, `it must have at most ${most} characters`);

/** Absent and null mean the same. */
const optional = (most: number) =>
  shown(most)
    .nullish()
    .transform((value) => value ?? undefined);

export const creation = z.object({ url: httpUrl, name: optional(255), description: optional(2_000), ordered: flag.optional() });

/** What is absent stays, null removes. */
export const changes = z.object({
  url: httpUrl.optional(),
  name: shown(255).nullable().optional(),
  description: shown(2_000).nullable().optional(),
  active: flag.optional(),
  ordered: flag.optional(),
});
export type WebhookChanges = z.infer<typeof changes>;

const mostOverlapSeconds = 7 * 86_400;
const overlapMessage = `it must be an integer from 0 to ${mostOverlapSeconds}`;

export const rotation = z.object({
  overlap_seconds: z.coerce
    .number(overlapMessage)
    .int(overlapMessage)
    .min(0, overlapMessage)
    .max(mostOverlapSeconds, overlapMessage)
    .default(86_400),
});

export const test = z.object({ event: z.unknown().optional() });

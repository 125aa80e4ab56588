import { z } from "zod";
import { flag, text } from "../http/request/parameters.ts";
import { httpUrl } from "../sources/request.ts";

const shown = (max: number) => text.max(max, `it must have at most ${max} characters`);

/** Absent and null are equivalent. */
const optional = (max: number) =>
  shown(max)
    .nullish()
    .transform((value) => value ?? undefined);

export const creation = z.object({ url: httpUrl, name: optional(255), description: optional(2_000), ordered: flag.optional() });

/** Absent fields stay, null removes a field. */
export const changes = z.object({
  url: httpUrl.optional(),
  name: shown(255).nullable().optional(),
  description: shown(2_000).nullable().optional(),
  active: flag.optional(),
  ordered: flag.optional(),
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
    .default(86_400),
});

export const test = z.object({ event: z.unknown().optional() });

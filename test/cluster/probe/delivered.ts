import { z } from "zod";

/** The reply of the probe to `/delivered`. */
export const deliveredSchema = z.object({
  accepted: z.number(),
  missing: z.number(),
  again: z.number(),
  repeated: z.number(),
  maxGapMs: z.number(),
});

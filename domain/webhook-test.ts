import { z } from "zod";

export const webhookTest = z.object({
  webhook: z.string(),
  /** Whose the webhook is. */
  owner: z.string(),
  emitId: z.string(),
  /** JSON text of the event. */
  payload: z.string(),
});

/** What the API asks of delivery: one signed event is to be posted to a webhook now, and never again. */
export type WebhookTest = z.infer<typeof webhookTest>;

export const testedWebhook = z.union([
  z.object({
    outcome: z.enum(["delivered", "failed"]),
    delivery: z.string(),
    /** Epoch ms. */
    at: z.number(),
    durationMs: z.number(),
    /** HTTP status, if there was an answer. */
    status: z.number().nullable(),
    error: z.string().nullable(),
  }),
  /** Nobody has told delivery where to post, or nothing may be posted. */
  z.object({ outcome: z.literal("not-ready") }),
]);

/** What came of a test. */
export type TestedWebhook = z.infer<typeof testedWebhook>;

import { z } from "zod";

export const webhookTest = z.object({
  webhook: z.string(),
  /** Owner of the webhook. */
  owner: z.string(),
  emitId: z.string(),
  /** JSON text of the event. */
  payload: z.string(),
});

/** A request of the API to the delivery role: post one signed event to a webhook now, without retries. */
export type WebhookTest = z.infer<typeof webhookTest>;

export const testedWebhook = z.union([
  z.object({
    outcome: z.enum(["delivered", "failed"]),
    delivery: z.string(),
    /** Epoch ms. */
    at: z.number(),
    durationMs: z.number(),
    /** HTTP status, if there was a response. */
    status: z.number().nullable(),
    error: z.string().nullable(),
  }),
  /** The delivery role does not know the webhook yet, or must not post to it. */
  z.object({ outcome: z.literal("not-ready") }),
]);

/** Result of a test. */
export type TestedWebhook = z.infer<typeof testedWebhook>;

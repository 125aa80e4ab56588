import { z } from "zod";
import { attemptOutcomes } from "../webhooks/ports.ts";
import { webhookSchema } from "./schemas.ts";

const ms = z.number().describe("Epoch milliseconds.");

export const rotatedWebhookSchema = webhookSchema
  .extend({
    signing_key: z.string().optional().describe("`whsec_…`, in this answer and in no other."),
    previous_key_until: z
      .int()
      .nullable()
      .describe("Until when the key before signs as well, epoch seconds; null: only the new one signs."),
  })
  .meta({ id: "RotatedWebhook" });

const subject = {
  delivery_id: z.string(),
  event_id: z.string(),
  source_id: z.string().nullable().describe("Null of a test."),
  subscription_id: z.string().nullable().describe("Null of a test."),
  event_name: z.string().describe("The channel; empty is the default one."),
};

const answered = {
  at_ms: ms,
  duration_ms: z.number(),
  response_status: z.int().nullable().describe("What the address answered."),
  cause: z.string().nullable().describe("Why it failed."),
};

export const attemptSchema = z
  .object({ ...subject, attempt: z.int().describe("The first is 1."), outcome: z.enum(attemptOutcomes), ...answered })
  .meta({ id: "Attempt", description: "One attempt at a delivery." });

export const deadLetterSchema = z
  .object({
    ...subject,
    attempts: z.int(),
    died_at_ms: ms,
    cause: z.string(),
    event: z.unknown().optional().describe("With `expand=event`."),
  })
  .meta({ id: "DeadLetter", description: "A delivery that failed for good." });

export const lineHeadSchema = z
  .object({
    ...subject,
    attempts: z.int().describe("Made so far."),
    waiting_since_ms: ms.describe("In line since then, epoch milliseconds."),
    next_attempt_at_ms: ms.nullable().describe("Null: it is attempted as soon as there is a place."),
    last_attempt: z.object(answered).nullable().describe("What came of it; null of none, or when it is not written yet."),
  })
  .meta({ id: "LineHead", description: "The delivery that all others in line wait for." });

export const backlogSchema = z
  .object({
    due: z.int().describe("Their time has come, and they wait to be attempted."),
    scheduled: z
      .object({
        count: z.int(),
        next_at_ms: ms.nullable().describe("The first of their times; null: there is none, or there are too many to look at."),
      })
      .describe("Deliveries with a time of their own: of the next attempt, or that their event asked for."),
    line: z
      .object({ count: z.int(), head: lineHeadSchema.nullable() })
      .describe("Of an ordered webhook: what waits for its turn, the first included."),
  })
  .meta({ id: "Backlog", description: "What is stored for a webhook and not delivered yet." });

export const testedWebhookSchema = z
  .object({ delivery_id: z.string(), outcome: z.enum(["delivered", "failed"]), ...answered })
  .meta({ id: "TestedWebhook" });

export const redrivenSchema = z.object({ queued: z.int().describe("How many are tried again.") }).meta({ id: "Redriven" });

export const purgedSchema = z.object({ deleted: z.int() }).meta({ id: "Purged" });

export const retriedSchema = z
  .object({ delivery_id: z.string(), webhook_id: z.string(), status: z.literal("queued") })
  .meta({ id: "Retried" });

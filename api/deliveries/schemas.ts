import { z } from "zod";
import { attemptOutcomes, deliveryStates } from "../webhooks/ports.ts";
import { attemptResult as result, ms } from "../webhooks/schemas.ts";

const subject = {
  delivery_id: z.string(),
  event_id: z.string(),
  source_id: z.string().nullable().describe("Null for a test."),
  subscription_id: z.string().nullable().describe("Null for a test."),
  event_name: z.string().describe("The channel; empty is the default one."),
};

export const attemptSchema = z
  .object({ ...subject, attempt: z.int().describe("The first is 1."), outcome: z.enum(attemptOutcomes), ...result })
  .meta({ id: "Attempt", description: "One attempt at a delivery." });

const headers = z.array(z.object({ name: z.string(), value: z.string() }));

const wholeAttemptSchema = z
  .object({
    attempt: z.int().describe("The first is 1."),
    outcome: z.enum(attemptOutcomes),
    ...result,
    request: z
      .object({
        method: z.literal("POST"),
        url: z.string().describe("Without credentials."),
        headers: headers.describe("Without `host`, `connection` and `content-length`. `***` stands for credentials."),
      })
      .nullable()
      .describe("Null: it was not recorded."),
    response: z
      .object({
        headers: headers.describe("`***` stands for cookies, other credentials, and secrets of the webhook."),
        headers_cut: z.boolean().describe("True: there were more than 100, or they had more than 16 Ki characters."),
        body: z.string().describe("The first 16 KiB, not decompressed. `***` stands for secrets of the webhook."),
        body_encoding: z.enum(["utf-8", "base64"]).describe("`base64`: the body is not UTF-8, or has control characters."),
        body_cut: z.boolean().describe("True: more followed, or the body ended early."),
      })
      .nullable()
      .describe("Null: there was none, or it was not recorded."),
  })
  .meta({ id: "WholeAttempt", description: "One attempt with what it sent and received." });

export const deliverySchema = z
  .object({
    ...subject,
    webhook_id: z.string(),
    state: z.enum(deliveryStates).describe("`waiting`: for the next attempt. `ended`: it failed, or is being attempted again."),
    body: z
      .string()
      .nullable()
      .describe("The body of every request, exactly as it is sent. Null: the event is no longer stored, or its emitter is not yours."),
    attempts: z.array(wholeAttemptSchema).describe("The last 20, newest first."),
  })
  .meta({ id: "Delivery", description: "A delivery to a webhook, with what its attempts sent and received." });

export const deadLetterSchema = z
  .object({
    ...subject,
    attempts: z.int(),
    died_at_ms: ms,
    cause: z.string(),
    event: z.unknown().optional().describe("With `expand=event`."),
  })
  .meta({ id: "DeadLetter", description: "A delivery whose last attempt failed." });

const send = {
  delivery_id: z.string(),
  run_id: z.string(),
  send: z.enum(["http", "email", "s3"]),
};

export const sendAttemptSchema = z
  .object({ ...send, attempt: z.int().describe("The first is 1."), outcome: z.enum(attemptOutcomes), ...result })
  .meta({ id: "ListedSendAttempt", description: "One attempt of what `$.send` asked for." });

export const failedSendSchema = z
  .object({
    delivery_id: send.delivery_id,
    run_id: z.string().nullable().describe("Null for an event."),
    send: send.send.nullable().describe("Null for an event."),
    event: z
      .object({
        event_id: subject.event_id,
        source_id: z.string(),
        subscription_id: z.string(),
        event_name: subject.event_name,
      })
      .optional()
      .describe("An event that could not wait for the workflow to become active."),
    attempts: z.int(),
    died_at_ms: ms,
    cause: z.string(),
    argument: z
      .unknown()
      .describe("The event, or the argument of `$.send`, of http with `***` in place of header values and the URL's path."),
  })
  .meta({
    id: "FailedSend",
    description: "What `$.send` asked for, after the last attempt failed, or an event that could not wait for a workflow.",
  });

export const lineHeadSchema = z
  .object({
    ...subject,
    attempts: z.int().describe("Attempts so far."),
    waiting_since_ms: ms.describe("Start of the wait in the queue, epoch milliseconds."),
    next_attempt_at_ms: ms.nullable().describe("Null: it is attempted as soon as a permit is free."),
    last_attempt: z.object(result).nullable().describe("Its result; null if there was none, or it is not recorded yet."),
  })
  .meta({ id: "LineHead", description: "The delivery that is queued longest. Later ones of its source wait for it." });

export const backlogSchema = z
  .object({
    due: z.int().describe("Deliveries that are due and wait to be attempted."),
    scheduled: z
      .object({
        count: z.int(),
        next_at_ms: ms.nullable().describe("The earliest of their times; null: there is none, or there are too many to read."),
      })
      .describe("Deliveries that wait for a retry or for the event's delivery time."),
    line: z.object({ count: z.int(), head: lineHeadSchema.nullable() }).describe("The queues of an ordered webhook, one for each source."),
  })
  .meta({ id: "Backlog", description: "Stored deliveries of a webhook that are not delivered yet." });

export const redrivenSchema = z
  .object({
    matching: z.int().describe("Number of selected dead letters."),
    queued: z.int().describe("Of them, those that are redelivered: all, or none with `dry_run`."),
  })
  .meta({ id: "Redriven" });

export const purgedSchema = z.object({ deleted: z.int() }).meta({ id: "Purged" });

export const retriedSchema = z
  .object({
    delivery_id: z.string(),
    webhook_id: z.string().optional(),
    workflow_id: z.string().optional().describe("In place of a webhook, if `$.send` of the workflow asked for it."),
    status: z.literal("queued"),
  })
  .meta({ id: "Retried" });

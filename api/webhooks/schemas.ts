import { z } from "zod";
import { webhookStates } from "../../domain/delivery/webhook-health.ts";
import { ownerId, problem, seconds, successRate, times } from "../resources/schemas.ts";

export const webhookSchema = z
  .object({
    id: z.string().describe("`wh_…`."),
    user_id: z.string().optional().describe("Only in responses to requests that create or change it."),
    owner_id: ownerId,
    name: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string(),
    active: z.boolean().describe("Whether events are posted."),
    ordered: z.boolean().describe("Whether the events of each source arrive in the order of their commits, one at a time."),
    disabled: z
      .object({ at: z.int().describe("Epoch seconds."), reason: z.enum(["EndpointGone", "EndpointFailing"]), message: z.string() })
      .optional()
      .describe(
        "Present while nothing is posted because the endpoint returned 410 Gone or has failed for days; PUT with `active: true` ends that.",
      ),
    ...times,
    state: z.enum(webhookStates).describe("State of its deliveries; `paused` if its owner switched it off."),
    problem,
    success_rate: successRate.describe("Share of the attempts that succeeded, of the last 100 within an hour; null without any."),
    circuit_open_until: seconds
      .nullable()
      .describe("Time until which nothing is posted, because many attempts in a row have failed, epoch seconds; null: no such wait."),
  })
  .meta({ id: "Webhook" });

export const createdWebhookSchema = webhookSchema
  .extend({ signing_key: z.string().describe("`whsec_…`, only in this response.") })
  .meta({ id: "CreatedWebhook" });

export const rotatedWebhookSchema = webhookSchema
  .extend({
    signing_key: z.string().optional().describe("`whsec_…`, only in this response."),
    previous_key_until: z
      .int()
      .nullable()
      .describe("Time until which the previous key also signs, epoch seconds; null: only the new one signs."),
  })
  .meta({ id: "RotatedWebhook" });

export const ms = z.number().describe("Epoch milliseconds.");

/** Fields of the result of an attempt. */
export const attemptResult = {
  at_ms: ms,
  duration_ms: z.number(),
  response_status: z.int().nullable().describe("HTTP status of the endpoint's response; null: there was none."),
  cause: z.string().nullable().describe("Why it failed; null: it was delivered."),
};

export const testedWebhookSchema = z
  .object({ delivery_id: z.string(), outcome: z.enum(["delivered", "failed"]), ...attemptResult })
  .meta({ id: "TestedWebhook" });

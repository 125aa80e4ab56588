import { z } from "zod";
import { seconds } from "../resources/schemas.ts";

const quotaExceededUntil = seconds
  .optional()
  .describe("Epoch seconds. Present while a daily quota is used up: until then, new work waits, and runs afterwards.");

const emailConfirmed = z.boolean().describe("False: only the mail with the link that confirms it goes to the address.");

export const emailConfirmationSchema = z
  .object({ email: z.string(), email_confirmed: emailConfirmed })
  .meta({ id: "EmailConfirmation", description: "An address. If it is not confirmed, a link was requested." });

export const organizationSchema = z
  .object({
    name: z.string(),
    id: z.string().describe("`o_…`."),
    orgname: z.string(),
    email: z.string(),
    email_confirmed: emailConfirmed,
    quota_exceeded_until: quotaExceededUntil,
  })
  .meta({ id: "Organization" });

export const ownerSettingsSchema = z
  .object({ error_mails: z.boolean().describe("Whether mails about errors of its workflows and sources go to its address.") })
  .meta({ id: "OwnerSettings" });

export const userSchema = z
  .object({
    id: z.string().describe("`u_…`."),
    username: z.string(),
    email: z.string(),
    email_confirmed: emailConfirmed,
    orgs: z.array(organizationSchema),
    daily_compute_time_quota: z.number().optional().describe("Milliseconds."),
    daily_compute_time_used: z.number().optional().describe("Milliseconds since midnight UTC."),
    daily_invocations_quota: z.number().optional(),
    daily_invocations_used: z.number().optional(),
    billing_period_start_ts: seconds.optional(),
    billing_period_end_ts: seconds.optional(),
    billing_period_invocations: z.number().optional(),
    quota_exceeded_until: quotaExceededUntil,
  })
  .meta({
    id: "User",
    description: "A free plan has the daily fields, a paid plan those of the billing period.",
  });

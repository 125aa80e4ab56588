import { z } from "zod";
import { planForms } from "../owners/ports.ts";
import { memberSchema } from "../organizations/members.ts";

const notes = { plan: z.string().describe("Name of a plan."), created_at: z.int().describe("Epoch seconds.") };

export const administeredUserSchema = z
  .object({ id: z.string().describe("`u_…`."), username: z.string(), email: z.string(), email_confirmed: z.boolean(), ...notes })
  .meta({ id: "User" });

export const administeredOrganizationSchema = z
  .object({
    id: z.string().describe("`o_…`."),
    name: z.string(),
    orgname: z.string(),
    email: z.string(),
    email_confirmed: z.boolean(),
    ...notes,
  })
  .meta({ id: "Organization" });

export const endingSchema = z
  .object({
    id: z.string().describe("`u_…` or `o_…`."),
    ended: z.boolean().describe("Nothing is left: the user, or an organization without members, can be deleted."),
    remaining: z
      .array(
        z.object({
          owner_id: z.string().describe("The user, or an organization of which the user is the only member."),
          kind: z.string(),
          count: z.int().describe("How many are still being deleted; of at most 1,000."),
        }),
      )
      .describe("By owner and kind."),
  })
  .meta({ id: "Ending" });

export const planSchema = z
  .object({
    name: z.string(),
    form: z.enum(planForms),
    daily_invocations_quota: z.number().nullable().describe("Null: no limit."),
    daily_compute_time_quota: z.number().nullable().describe("Milliseconds; null: no limit."),
    weight: z.number().describe("1 to 100: the share of queued runs that its owners get, relative to weight 1."),
    max_organizations: z.int().describe("Maximum organizations that one user can create."),
  })
  .meta({ id: "Plan" });

export const administeredMemberSchema = memberSchema.extend({ email: z.string() }).meta({ id: "Member" });

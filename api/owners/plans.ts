import { z } from "zod";
import { planForms, type Plan } from "./ports.ts";

const quota = z.int("it must be an integer of at least 0").min(0, "it must be an integer of at least 0").nullish();

const maxWeight = 100;
const weight = z.int("it must be an integer").min(1, "it must be at least 1").max(maxWeight, `it must be at most ${maxWeight}`).nullish();

const maxOrganizations = z.int("it must be an integer").min(0, "it must be at least 0").max(1_000, "it must be at most 1000").nullish();

export const planFields = z.object({
  form: z
    .enum(planForms, `it must be ${planForms.join(" or ")}`)
    .describe("What GET /v1/users/me shows: `free`, the usage of the day; `paid`, the runs of the month."),
  daily_invocations_quota: quota.describe("Runs; null: no limit."),
  daily_compute_time_quota: quota.describe("Milliseconds; null: no limit."),
  weight: weight.describe("1 to 100, by default 1: the share of queued runs that its owners get, relative to weight 1."),
  max_organizations: maxOrganizations.describe(
    "Maximum organizations that one user can create, 20 by default. Each has its own quotas, with the user's plan.",
  ),
});

export const defaultMaxOrganizations = 20;

export const planResponse = ({ name, form, dailyInvocations, dailyComputeMs, weight: given, maxOrganizations: max }: Plan) => ({
  name,
  form,
  daily_invocations_quota: dailyInvocations,
  daily_compute_time_quota: dailyComputeMs,
  weight: given,
  max_organizations: max,
});

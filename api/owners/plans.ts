import { z } from "zod";
import { planForms, type Plan } from "./ports.ts";

const quota = z.int("it must be an integer of at least 0").min(0, "it must be an integer of at least 0").nullish();

const maxWeight = 100;
const weight = z.int("it must be an integer").min(1, "it must be at least 1").max(maxWeight, `it must be at most ${maxWeight}`).nullish();

const maxOrganizations = z.int("it must be an integer").min(0, "it must be at least 0").max(1_000, "it must be at most 1000").nullish();

export const planFields = z.object({
  form: z.enum(planForms, `it must be ${planForms.join(" or ")}`),
  daily_invocations_quota: quota,
  daily_compute_time_quota: quota,
  weight,
  max_organizations: maxOrganizations,
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

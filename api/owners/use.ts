import { billingPeriodOf, dayOf, exceededUntil } from "../../domain/limits/quota.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import type { userSchema } from "./schemas.ts";
import type { Plan } from "./ports.ts";
import { quotaExceededUntil, quotaField } from "./quota.ts";

/** The largest whole number that every client can read. */
const noLimit = Number.MAX_SAFE_INTEGER;

type Use = Omit<Answered<typeof userSchema>, "id" | "username" | "email" | "email_confirmed" | "orgs">;

/** What an owner has used, in the form of their plan (specification, "User"). Compute time is in milliseconds. */
export async function describeUse(owner: string, plan: Plan, ports: Pick<ApiPorts, "clock" | "history">): Promise<Use> {
  const { clock, history } = ports;
  const now = clock.now();
  if (plan.form === "paid") {
    const { startMs, endMs } = billingPeriodOf(now);
    return {
      billing_period_start_ts: epochSeconds(startMs),
      billing_period_end_ts: epochSeconds(endMs),
      billing_period_invocations: (await history.readUsage(owner, startMs, endMs)).runs,
      ...quotaField(await quotaExceededUntil(owner, plan, ports)),
    };
  }
  const used = await history.readUsage(owner, dayOf(now).startMs);
  return {
    daily_compute_time_quota: plan.dailyComputeMs ?? noLimit,
    daily_compute_time_used: Math.round(used.computeMs),
    daily_invocations_quota: plan.dailyInvocations ?? noLimit,
    daily_invocations_used: used.runs,
    ...quotaField(exceededUntil(plan, used, now)),
  };
}

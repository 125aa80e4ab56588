import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { Plan } from "./ports.ts";

const dayMs = 86_400_000;
/** The largest whole number that every client can read. */
const noLimit = Number.MAX_SAFE_INTEGER;

/** What an owner has used, in the form of their plan (specification, "User"). Compute time is in milliseconds. */
export async function describeUse(owner: string, plan: Plan, { clock, history }: Pick<ApiPorts, "clock" | "history">): Promise<object> {
  const now = clock.now();
  if (plan.form === "paid") {
    const { startMs, endMs } = billingPeriodOf(now);
    return {
      billing_period_start_ts: epochSeconds(startMs),
      billing_period_end_ts: epochSeconds(endMs),
      billing_period_invocations: (await history.readUsage(owner, startMs, endMs)).runs,
    };
  }
  const used = await history.readUsage(owner, now - (now % dayMs));
  return {
    daily_compute_time_quota: plan.dailyComputeMs ?? noLimit,
    daily_compute_time_used: Math.round(used.computeMs),
    daily_invocations_quota: plan.dailyInvocations ?? noLimit,
    daily_invocations_used: used.runs,
  };
}

/** The calendar month in UTC; its end is the beginning of the next. */
function billingPeriodOf(ms: number): { readonly startMs: number; readonly endMs: number } {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

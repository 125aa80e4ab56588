import { z } from "zod";
import { dayOf, exceededUntil } from "../../domain/limits/quota.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import { seconds } from "../resources/schemas.ts";
import type { Answered } from "../http/response/answered.ts";

const measured = (what: string, quota: string) => z.object({ used: z.int().describe(what), quota: z.int().nullable().describe(quota) });

export const usageSchema = z
  .object({
    owner_id: z.string().describe("The user or organization."),
    plan: z.string().describe("Name of the plan."),
    period_start_ts: seconds.describe("Epoch seconds: midnight UTC, when the day began."),
    reset_ts: seconds.describe("Epoch seconds: the next midnight UTC, when usage starts again at 0."),
    invocations: measured("Runs that started today.", "Runs a day; null: unlimited."),
    run_time_ms: measured("Milliseconds that these runs took.", "Milliseconds a day; null: unlimited."),
    events: z.object({ used: z.int().describe("Events emitted today.") }),
    deliveries: z.object({ used: z.int().describe("Deliveries to webhooks that succeeded today.") }),
    quota_exceeded_until: seconds.nullable().describe("Epoch seconds until which new work waits; null: no quota is used up."),
  })
  .meta({ id: "Usage", description: "What an owner has used today, with the quotas of the plan." });

type Ports = Pick<ApiPorts, "accounts" | "clock" | "history">;

/** Reads the counters by which quotas are decided. */
export async function usageOf(owner: string, { accounts, clock, history }: Ports): Promise<Answered<typeof usageSchema>> {
  const now = clock.now();
  const { startMs, endMs } = dayOf(now);
  const [plan, use] = await Promise.all([accounts.planOf(owner), history.readDay(owner, startMs)]);
  const until = exceededUntil(plan, use, now);
  return {
    owner_id: owner,
    plan: plan.name,
    period_start_ts: epochSeconds(startMs),
    reset_ts: epochSeconds(endMs),
    invocations: { used: use.runs, quota: plan.dailyInvocations },
    run_time_ms: { used: Math.round(use.computeMs), quota: plan.dailyComputeMs },
    events: { used: use.events },
    deliveries: { used: use.deliveries },
    quota_exceeded_until: until === null ? null : epochSeconds(until),
  };
}

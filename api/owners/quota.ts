import { QuotaUsedUp } from "../../domain/errors.ts";
import { dayOf, exceededUntil } from "../../domain/limits/quota.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { Plan } from "./ports.ts";

type Ports = Pick<ApiPorts, "accounts" | "clock" | "history">;

/** Epoch ms until which work of an owner with this plan waits; null: it does not wait. */
export async function quotaExceededUntil(
  owner: string,
  plan: Plan,
  { clock, history }: Pick<Ports, "clock" | "history">,
): Promise<number | null> {
  if (plan.dailyInvocations === null && plan.dailyComputeMs === null) return null;
  const now = clock.now();
  return exceededUntil(plan, await history.readUsage(owner, dayOf(now).startMs), now);
}

/** Present only while work of the owner waits. */
export const quotaField = (until: number | null): { readonly quota_exceeded_until?: number } =>
  until === null ? {} : { quota_exceeded_until: epochSeconds(until) };

/** @throws QuotaUsedUp when a run of the owner would wait for quota, and its caller with it */
export async function checkQuota(owner: string, ports: Ports): Promise<void> {
  const plan = await ports.accounts.planOf(owner);
  const until = await quotaExceededUntil(owner, plan, ports);
  if (until === null) return;
  const message = `${owner} has used up the daily quota (plan '${plan.name}'): run it after ${new Date(until).toISOString()}, or raise the plan`;
  throw new QuotaUsedUp(message, until - ports.clock.now());
}

import { z } from "zod";
import { noContent, ok, type Asked } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, text } from "../http/request/parameters.ts";
import { nameField } from "../owners/names.ts";
import { defaultMaxOrganizations, planFields, planResponse } from "../owners/plans.ts";
import { getOrganization } from "./organizations.ts";
import type { AdminContext } from "./context.ts";
import { getUser } from "./users.ts";

export const chosenPlan = z.object({ plan: text });
const named = z.object({ name: nameField });

/** Plans, and the choice of an owner's plan. */
export function planRoutes({ ports }: AdminContext) {
  const { accounts } = ports;
  const choose = async (owner: string, body: unknown) => {
    await accounts.choosePlan(owner, parse(chosenPlan, body).plan);
    return ok(planResponse(await accounts.planOf(owner)));
  };
  return {
    list: async () => ok((await accounts.listPlans()).map(planResponse)),
    save: async (call: Asked) => {
      const { name } = parse(named, { name: pathOf(call, "name") });
      const { form, daily_invocations_quota, daily_compute_time_quota, weight, max_organizations } = parse(planFields, call.body);
      const quotas = { dailyInvocations: daily_invocations_quota ?? null, dailyComputeMs: daily_compute_time_quota ?? null };
      const plan = { name, form, ...quotas, weight: weight ?? 1, maxOrganizations: max_organizations ?? defaultMaxOrganizations };
      await accounts.savePlan(plan);
      return ok(planResponse(plan));
    },
    delete: async (call: Asked) => {
      await accounts.deletePlan(parse(named, { name: pathOf(call, "name") }).name);
      return noContent;
    },
    ofUser: async (call: Asked) => choose((await getUser(pathOf(call, "id"), ports)).id, call.body),
    ofOrganization: async (call: Asked) => choose((await getOrganization(pathOf(call, "id"), ports)).id, call.body),
  };
}

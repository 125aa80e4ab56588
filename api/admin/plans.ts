import { z } from "zod";
import { noContent, ok } from "../http/response/replies.ts";
import { all, nothing, one } from "../http/response/schemas.ts";
import type { AnonymousCall } from "../http/request/call.ts";
import { parse } from "../http/request/parse.ts";
import { pathOf } from "../http/routing/handle.ts";
import { nameField } from "../owners/names.ts";
import { defaultMaxOrganizations, planFields, planResponse } from "../owners/plans.ts";
import { adminOperation } from "./context.ts";
import { planSchema } from "./schemas.ts";

const named = z.object({ name: nameField });

export const adminPlanOperations = [
  adminOperation({
    route: "GET /plans",
    id: "listPlans",
    summary: "List all plans",
    responses: all(planSchema),
    handle: async (_call, { ports }) => ok((await ports.accounts.listPlans()).map(planResponse)),
  }),
  adminOperation({
    route: "PUT /plans/:name",
    id: "savePlan",
    change: { action: "update", kind: "Plan" },
    summary: "Create a plan, or change it for all its owners",
    body: planFields,
    responses: one(planSchema),
    handle: async (call, { ports }) => {
      const name = planNameOf(call);
      const { form, daily_invocations_quota, daily_compute_time_quota, weight, max_organizations } = call.body();
      const quotas = { dailyInvocations: daily_invocations_quota ?? null, dailyComputeMs: daily_compute_time_quota ?? null };
      const plan = { name, form, ...quotas, weight: weight ?? 1, maxOrganizations: max_organizations ?? defaultMaxOrganizations };
      await ports.accounts.savePlan(plan);
      return ok(planResponse(plan));
    },
  }),
  adminOperation({
    route: "DELETE /plans/:name",
    id: "deletePlan",
    change: { action: "delete", kind: "Plan" },
    summary: "Delete a plan that no owner has",
    responses: nothing,
    errors: [409],
    handle: async (call, { ports }) => {
      await ports.accounts.deletePlan(planNameOf(call));
      return noContent;
    },
  }),
];

const planNameOf = (call: AnonymousCall): string => parse(named, { name: pathOf(call, "name") }).name;

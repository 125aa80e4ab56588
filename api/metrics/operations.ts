import type { z } from "zod";
import type { Resource } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { planRange, pointsOf, type PlannedRange } from "../../domain/measures/range.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { checkTimes } from "../http/request/ranges.ts";
import { ok } from "../http/response/replies.ts";
import { all, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceIdOf } from "../sources/find-source.ts";
import { webhookIdOf } from "../webhooks/webhook.ts";
import { workflowIdOf } from "../workflows/find-workflow.ts";
import { metricsResponse } from "./response.ts";
import { listParameters, maxIds, maxListedPoints, metricsSchema, rangeParameters } from "./schemas.ts";

export const metricsOperations = [
  operation({
    route: "GET /sources/:id/metrics",
    id: "getSourceMetrics",
    summary: "Get runs, errors, durations and events of a source over time",
    query: rangeParameters,
    responses: one(metricsSchema),
    handle: async (call, context) => metricsOf(sourceIdOf, call, context),
  }),
  operation({
    route: "GET /workflows/:workflow_id/metrics",
    id: "getWorkflowMetrics",
    summary: "Get runs, errors and durations of a workflow over time",
    query: rangeParameters,
    responses: one(metricsSchema),
    handle: async (call, context) => metricsOf(workflowIdOf, call, context),
  }),
  operation({
    route: "GET /webhooks/:id/metrics",
    id: "getWebhookMetrics",
    summary: "Get attempts, deliveries and dead letters of a webhook over time",
    query: rangeParameters,
    responses: one(metricsSchema),
    handle: async (call, context) => metricsOf(webhookIdOf, call, context),
  }),
  operation({
    route: "GET /users/me/metrics",
    id: "getMyMetrics",
    summary: "Get what all sources, workflows and webhooks of the caller did over time",
    description: "With `org_id`: those of the organization.",
    query: ownerParameters.extend(rangeParameters.shape),
    responses: one(metricsSchema),
    handle: async (call, context) => metricsOf((_, { access }) => access.owner(call), call, context),
  }),
  operation({
    route: "GET /orgs/:org_id/metrics",
    id: "getMetrics",
    summary: "Get what all sources, workflows and webhooks of an organization did over time",
    query: rangeParameters,
    responses: one(metricsSchema),
    handle: async (call, context) => metricsOf(organizationOf, call, context),
  }),
  operation({
    route: "GET /metrics",
    id: "listMetrics",
    summary: "Get the metrics of several sources, workflows and webhooks",
    description: `For lists: at most ${maxIds} ids, and ${maxListedPoints} points together. Ids that do not exist or are not yours are left out.`,
    query: listParameters,
    responses: all(metricsSchema),
    handle: async (call, context) => {
      const { ids: given } = call.query();
      const named = [...new Set(given.split(",").map((id) => id.trim()))];
      if (named.length > maxIds)
        throw new InvalidInput(`ids names ${named.length} sources, workflows and webhooks: name at most ${maxIds}`);
      const range = rangeOf(call.query(), context);
      const points = pointsOf(range) * named.length;
      if (points > maxListedPoints)
        throw new InvalidInput(
          `${named.length} ids with ${pointsOf(range)} points each are ${points} points, and a response has at most ${maxListedPoints}: choose a longer step, a shorter range or fewer ids`,
        );
      const found = await Promise.all(named.map((id) => findId(id, call, context)));
      const ids = found.filter((id) => id !== undefined);
      const read = await context.ports.measures.read(ids, range);
      return ok(ids.map((id) => metricsResponse(id, read.get(id) ?? [], range)));
    },
  }),
];

type WithRange = Call & { query(): z.output<typeof rangeParameters> };

async function metricsOf<Called extends WithRange>(
  find: (call: Called, context: ApiContext) => Promise<string>,
  call: Called,
  context: ApiContext,
) {
  const range = rangeOf(call.query(), context);
  const id = await find(call, context);
  const read = await context.ports.measures.read([id], range);
  return ok(metricsResponse(id, read.get(id) ?? [], range));
}

/** @throws InvalidInput for a range that is too long, or older than what is kept */
export function rangeOf(
  { from, to, step }: z.output<typeof rangeParameters>,
  { config, ports }: Pick<ApiContext, "config" | "ports">,
): PlannedRange {
  checkTimes(from, to, ["from", "to"]);
  return planRange({ from, to, step: step === "auto" ? undefined : step }, config.keptMeasures, ports.clock.now());
}

async function organizationOf(call: Call, { access }: ApiContext): Promise<string> {
  const organization = pathOf(call, "org_id");
  await access.checkOrganization(call.user, organization);
  return organization;
}

/** Undefined if it does not exist, or if the caller may not see it. */
async function findId(id: string, { user }: Call, { access }: ApiContext): Promise<string | undefined> {
  const find = async (): Promise<Resource | undefined> => {
    if (isId("workflow", id)) return access.findListed(workflowKind, "workflow", id, user);
    if (isId("webhook", id)) return access.findListed(webhookKind, "webhook", id, user);
    return access.findListed(sourceKind, "source", id, user);
  };
  const found = await find();
  return found === undefined ? undefined : publicIdOf(found);
}

import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { rangeOf } from "../metrics/operations.ts";
import { metricsResponse } from "../metrics/response.ts";
import { metricsSchema, rangeParameters } from "../metrics/schemas.ts";
import { adminOperation } from "./context.ts";

export const adminMetricsOperations = [
  adminOperation({
    route: "GET /metrics",
    id: "getMetrics",
    summary: "Get what all sources, workflows and webhooks of the installation did over time",
    description: "Of all users and organizations that exist. After 10 s it returns 503: choose a shorter range.",
    query: rangeParameters,
    responses: one(metricsSchema),
    handle: async (call, context) => {
      const range = rangeOf(call.query(), context);
      return ok(metricsResponse("installation", await context.ports.measures.readAll(range), range));
    },
  }),
];

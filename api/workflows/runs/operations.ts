import { z } from "zod";
import { NotFound } from "../../../domain/errors.ts";
import { isEventId } from "../../../domain/event/event-id.ts";
import { maxLimit, parseLimit } from "../../../domain/page.ts";
import { runStatuses } from "../../../domain/workflow/run-state.ts";
import { operation, type ApiContext } from "../../context.ts";
import type { Call } from "../../http/request/call.ts";
import { optionalParameter, pages, parsePage } from "../../http/request/parameters.ts";
import { ok, okList, okPage } from "../../http/response/replies.ts";
import { all, one, page } from "../../http/response/schemas.ts";
import { pathOf } from "../../http/routing/handle.ts";
import { logParameters } from "../../runs/operations.ts";
import { logLineSchema } from "../../runs/schemas.ts";
import { tickResponse, tickSchema } from "../../runs/tick-response.ts";
import { sourceIdOf } from "../../sources/find-source.ts";
import { workflowIdOf } from "../find-workflow.ts";
import { runOf } from "./find-run.ts";
import { workflowRunDetailsResponse, workflowRunResponse } from "./response.ts";
import { workflowRunDetailsSchema, workflowRunSchema } from "./schemas.ts";

const filter = z.object({
  status: optionalParameter(z.enum(runStatuses), `it must be ${runStatuses.join(", ")}`).describe("Only runs with this status."),
});

/** Runs of workflows, and the way from an event to the runs that it started. */
export const workflowRunOperations = [
  operation({
    route: "GET /workflows/:workflow_id/runs",
    id: "listWorkflowRuns",
    summary: "List the runs of a workflow",
    description: "Newest first. The last hundred of each status are stored, and up to 10,000 that have not ended.",
    query: filter.extend(pages.shape),
    responses: page(workflowRunSchema),
    handle: async (call, context) => {
      const { status } = call.query();
      const request = parsePage(call.parameters);
      const filters = status === undefined ? {} : { status };
      const workflow = await workflowIdOf(call, context);
      return okList((part) => context.ports.history.pageWorkflowRuns(workflow, { ...part, ...filters }), request, workflowRunResponse);
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/runs/:run_id",
    id: "getWorkflowRun",
    summary: "Get a run of a workflow with its steps",
    description: "The run as of its last commit: a step appears when it ends.",
    responses: one(workflowRunDetailsSchema),
    handle: async (call, context) => {
      const workflow = await workflowIdOf(call, context);
      const found = await runOf(call, workflow, context);
      // Attempts of sends name the workflow in place of a webhook, and the run in place of an event.
      const sends = await context.ports.deliveries.pageAttempts(workflow, { limit: maxLimit, cursor: null, event: found.id });
      return ok(workflowRunDetailsResponse(found, sends.items));
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/ticks",
    id: "listWorkflowTicks",
    summary: "List the results of the ticks of a workflow's timers",
    description:
      "Ticks that were due while the workflow was active, newest first. A skipped one is listed once a later one has started a run.",
    query: pages,
    responses: page(tickSchema),
    handle: async (call, context) => {
      const request = parsePage(call.parameters, "event");
      const workflow = await workflowIdOf(call, context);
      return okPage(await context.ports.history.pageTicks(workflow, request), tickResponse, "event");
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/logs",
    id: "listWorkflowLogs",
    summary: "List the last lines of a workflow's log, newest first",
    query: logParameters,
    responses: all(logLineSchema),
    handle: async (call, context) => {
      const { limit } = call.query();
      const workflow = await workflowIdOf(call, context);
      const lines = await context.ports.history.lastLogs(workflow, parseLimit(limit ?? 100));
      return ok(lines.toReversed().map(({ run, record }) => ({ ...record, run_id: run })));
    },
  }),
  operation({
    route: "GET /sources/:id/events/:event_id/runs",
    id: "listRunsOfSourceEvent",
    summary: "List the workflow runs that an event of a source started",
    description: "Newest first, of workflows of yours and of your organizations.",
    responses: all(workflowRunSchema),
    handle: async (call, context) => runsOfEvent(call, await sourceIdOf(call, context), context),
  }),
  operation({
    route: "GET /workflows/:workflow_id/events/:event_id/runs",
    id: "listRunsOfWorkflowEvent",
    summary: "List the workflow runs that an event of a workflow started",
    description: "Newest first, of workflows of yours and of your organizations.",
    responses: all(workflowRunSchema),
    handle: async (call, context) => runsOfEvent(call, await workflowIdOf(call, context), context),
  }),
];

async function runsOfEvent(call: Call, emitter: string, { access, ports }: ApiContext) {
  const id = pathOf(call, "event_id");
  const event = isEventId(id) ? await ports.history.findEvent(emitter, id) : undefined;
  if (event === undefined) throw new NotFound(`record not found: ${emitter} has no event ${id.slice(0, 80)}, or it was deleted`);
  const runs = await ports.history.runsOfEvent({ emitter, emitId: event.emitId }, await access.ownersOf(call.user));
  return ok(runs.map(workflowRunResponse));
}

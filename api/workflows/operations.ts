import { z } from "zod";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { PageRequest } from "../../domain/page.ts";
import { operation, type ApiContext } from "../context.ts";
import { eventSchema } from "../events/schemas.ts";
import type { Call, Input } from "../http/request/call.ts";
import { eventPages, parseEventPage, text } from "../http/request/parameters.ts";
import { ok, okPage } from "../http/response/replies.ts";
import { one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { listOperations } from "../list-operations.ts";
import type { Listed, StoredEvent } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { workflowResponse, workflowSchema } from "./response.ts";

const summaries = z.object({ expand: text.optional().describe("`event`: returns whole events, however large they are.") });
const summariesQuery = summaries.extend(eventPages.shape);

/**
 * Events and errors of workflows, read from the same history as those of sources. Workflows do not run yet, so nothing of
 * theirs is recorded: an existing workflow has an empty page.
 */
export const workflowOperations = [
  ...listOperations({
    path: "workflows",
    id: "Workflows",
    noun: "workflows",
    kind: workflowKind,
    schema: workflowSchema,
    respond: (workflows, _namespace, { access }) =>
      Promise.all(workflows.map(async (workflow) => workflowResponse(workflow, await access.ownerOf(workflow)))),
  }),
  operation({
    route: "GET /workflows/:workflow_id",
    id: "getWorkflow",
    summary: "Get a workflow",
    responses: one(workflowSchema),
    handle: async (call, context) => {
      const workflow = await workflowOf(call, context);
      return ok(workflowResponse(workflow, await context.access.ownerOf(workflow)));
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/event_summaries",
    id: "listWorkflowEvents",
    summary: "List the events of a workflow",
    query: summariesQuery,
    responses: page(eventSchema),
    handle: (call, context) => summariesOf(call, context, (workflow, request) => context.ports.history.pageEvents(workflow, request)),
  }),
  operation({
    route: "GET /workflows/:workflow_id/$errors/event_summaries",
    id: "listWorkflowErrors",
    summary: "List the errors of a workflow",
    query: summariesQuery,
    responses: page(eventSchema),
    handle: (call, context) =>
      summariesOf(call, context, (workflow, request) => context.ports.history.pageDerived(workflow, "$errors", request)),
  }),
];

/** @throws NotFound */
const workflowOf = (call: Call, { access }: ApiContext): Promise<WorkflowResource> =>
  access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user);

async function summariesOf(
  call: Call & Input<z.output<typeof summaries>>,
  context: ApiContext,
  read: (workflow: string, request: PageRequest) => Promise<Listed<StoredEvent>>,
) {
  const { expand = "" } = call.query();
  if (expand !== "" && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
  const request = parseEventPage(call.parameters);
  const emitter = publicIdOf(await workflowOf(call, context));
  const options = { emitter, expand: expand === "event" };
  const show = (event: StoredEvent) => eventSummary(event, { ...options, indexedAtMs: event.indexedAtMs });
  return okPage(await read(emitter, request), show, "event");
}

import { operation } from "../../context.ts";
import { channelQuery, deleteEvents, deletionQuery, deletionResponse, eventsQuery, listEvents } from "../../events/reading.ts";
import { eventSchema, workflowEventDeletionSchema } from "../../events/schemas.ts";
import { ok } from "../../http/response/replies.ts";
import { all, page } from "../../http/response/schemas.ts";
import { workflowIdOf } from "../find-workflow.ts";

/** Events that workflows emit, and their errors. They are in the same history as those of sources. */
export const workflowEventOperations = [
  operation({
    route: "GET /workflows/:workflow_id/event_summaries",
    id: "listWorkflowEvents",
    summary: "List the events of a workflow",
    query: eventsQuery,
    responses: page(eventSchema),
    handle: (call, context) => listEvents(call, call.query(), () => workflowIdOf(call, context), context),
  }),
  operation({
    route: "GET /workflows/:workflow_id/$errors/event_summaries",
    id: "listWorkflowErrors",
    summary: "List the errors of a workflow",
    query: channelQuery,
    responses: page(eventSchema),
    handle: (call, context) => listEvents(call, { ...call.query(), event_name: "$errors" }, () => workflowIdOf(call, context), context),
  }),
  operation({
    route: "DELETE /workflows/:workflow_id/events",
    id: "deleteWorkflowEvents",
    change: { action: "delete_events", kind: "Workflow" },
    summary: "Delete events of a workflow",
    description: "Without parameters, all events of the workflow.",
    query: deletionQuery,
    responses: { 202: { contentType: "text/plain", description: "One space." } },
    handle: (call, context) => deleteEvents(call, call.query(), () => workflowIdOf(call, context), context),
  }),
  operation({
    route: "GET /workflows/:workflow_id/events/deletions",
    id: "listWorkflowEventDeletions",
    summary: "List deletions of events of a workflow with their progress",
    responses: all(workflowEventDeletionSchema),
    handle: async (call, context) => {
      const workflow = await workflowIdOf(call, context);
      const deletions = await context.ports.history.listDeletions(workflow);
      return ok(deletions.map((each) => ({ workflow_id: workflow, ...deletionResponse(each) })));
    },
  }),
];

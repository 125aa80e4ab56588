import { z } from "zod";
import { deletion, legacy, summaries } from "../../events/operations.ts";
import { replayRequest } from "../../replays/operations.ts";
import { filter, logParameters, request } from "../../runs/operations.ts";
import { parameters } from "../../streams/operations.ts";
import { summaries as summariesOfWorkflow } from "../../workflows/operations.ts";
import {
  dryRunSchema,
  eventDeletionSchema,
  eventSchema,
  legacyEventSchema,
  logLineSchema,
  replaySchema,
  runSchema,
  startedRunSchema,
} from "../../runs/schemas.ts";
import { tickSchema } from "../../runs/tick-response.ts";
import { workflowSchema } from "../../resources/schemas.ts";
import { eventPages, mine, pages } from "../fields.ts";
import { accepted, all, one, page, type Answer, type Operations } from "../operation.ts";

const stream: Answer = { contentType: "text/event-stream", description: "Server-Sent Events; it stays open." };

export const historyOperations = {
  "GET /sources/:id/runs": { id: "listRuns", summary: "Runs of a source", query: filter.extend(pages.shape), answers: page(runSchema) },
  "POST /sources/:id/runs": {
    id: "runSource",
    summary: "Run a source now",
    description:
      "Waits for the end. One whose code throws is answered 200 as well: status and error tell. Without an event it runs with a tick of the source's first timer, else with an empty request to its HTTP interface.",
    body: request,
    means: {
      event_id: "Runs with this event in place of one that is given.",
      emitter_id: "Whose event that is; by default the source's own.",
    },
    answers: { ...one(z.union([runSchema, dryRunSchema])), ...accepted(startedRunSchema) },
    errors: [409, 504],
  },
  "GET /sources/:id/runs/:run_id": {
    id: "getRun",
    summary: "A run, with its logs",
    description: "One that took too long for the answer to its request is running until it has ended.",
    answers: one(z.union([runSchema, startedRunSchema])),
  },
  "GET /sources/:id/ticks": {
    id: "listTicks",
    summary: "What became of the ticks of a source's timers",
    description: "Those that fell due while it was active, newest first.",
    query: pages,
    answers: page(tickSchema),
  },
  "GET /sources/:id/logs": {
    id: "listLogs",
    summary: "The last lines of a source's log",
    query: logParameters,
    answers: all(logLineSchema),
  },
  "GET /sources/:id/event_summaries": {
    id: "listEvents",
    summary: "What a source emitted",
    query: summaries.extend(eventPages.shape),
    answers: page(eventSchema),
  },
  "GET /sources/:id/events": {
    id: "listEventsAsBefore",
    summary: "What a source emitted, in an older form",
    query: legacy.extend(eventPages.pick({ limit: true }).shape),
    answers: all(legacyEventSchema),
  },
  "DELETE /sources/:id/events": {
    id: "deleteEvents",
    summary: "Delete events",
    description: "All of them, unless the parameters keep it to some.",
    query: deletion,
    answers: { 202: { contentType: "text/plain", description: "One space." } },
  },
  "GET /sources/:id/events/deletions": {
    id: "listEventDeletions",
    summary: "Deletions of events, and how far they are",
    answers: all(eventDeletionSchema),
  },
  "POST /sources/:id/replays": {
    id: "replayEvents",
    summary: "Deliver past events once more",
    description: "All that are kept, unless the fields keep it to some; to all who listen, unless one is named.",
    body: replayRequest,
    answers: accepted(replaySchema),
  },
  "GET /users/me/workflows": { id: "listMyWorkflows", summary: "The caller's workflows", query: mine, answers: page(workflowSchema) },
  "GET /orgs/:org_id/workflows": {
    id: "listWorkflows",
    summary: "An organization's workflows",
    query: pages,
    answers: page(workflowSchema),
  },
  "GET /workflows/:workflow_id": { id: "getWorkflow", summary: "A workflow", answers: one(workflowSchema) },
  "GET /workflows/:workflow_id/event_summaries": {
    id: "listWorkflowEvents",
    summary: "What a workflow emitted",
    query: summariesOfWorkflow.extend(eventPages.shape),
    answers: page(eventSchema),
  },
  "GET /workflows/:workflow_id/$errors/event_summaries": {
    id: "listWorkflowErrors",
    summary: "What went wrong in a workflow",
    query: summariesOfWorkflow.extend(eventPages.shape),
    answers: page(eventSchema),
  },
} as const satisfies Operations;

/** What `routes/streams.ts` serves, beside the table of routes. */
export const streamOperations = {
  "GET /sources/:id/sse": {
    id: "streamEvents",
    summary: "What a source emits, as it is committed",
    query: parameters,
    headers: { "last-event-id": "Goes on behind this event." },
    answers: { 200: stream },
  },
  "GET /sources/:id/logs/sse": {
    id: "streamLogs",
    summary: "The log of a source, as it is written",
    answers: { 200: stream },
  },
} as const satisfies Operations;

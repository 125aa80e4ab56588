import { z } from "zod";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import { maxLimit, parseLimit } from "../../domain/page.ts";
import { operation } from "../context.ts";
import { eventPages, itemCount } from "../http/request/parameters.ts";
import { ok, okWholeList } from "../http/response/replies.ts";
import { all, page } from "../http/response/schemas.ts";
import type { StoredEvent } from "../ports.ts";
import { sourceIdOf } from "../sources/find-source.ts";
import { deleteEvents, deletionQuery, deletionResponse, eventsQuery, listEvents } from "./reading.ts";
import { eventDeletionSchema, eventSchema, legacyEventSchema } from "./schemas.ts";

const legacy = z.object({ n: itemCount.optional().describe("The same as `limit`, and takes precedence.") });

export const eventOperations = [
  operation({
    route: "GET /sources/:id/event_summaries",
    id: "listEvents",
    summary: "List the events of a source",
    query: eventsQuery,
    responses: page(eventSchema),
    handle: (call, context) => listEvents(call, call.query(), () => sourceIdOf(call, context), context),
  }),
  operation({
    route: "GET /sources/:id/events",
    id: "listEventsAsBefore",
    summary: "List the events of a source in an older form",
    query: legacy.extend(eventPages.pick({ limit: true }).shape),
    responses: all(legacyEventSchema),
    handle: async (call, context) => {
      const { n, limit: given } = call.query();
      const limit = n === undefined ? parseLimit(given, "limit", maxLimit) : parseLimit(n, "n");
      const emitter = await sourceIdOf(call, context);
      const show = (event: StoredEvent) => ({
        id: event.id,
        e: eventSummary(event, { emitter, indexedAtMs: event.indexedAtMs, expand: true }).event,
        k: "emit" as const,
        ts: event.ts,
        metadata: eventMetadata(event, emitter),
      });
      return okWholeList((page) => context.ports.history.pageEvents(emitter, page), { limit, cursor: null }, show);
    },
  }),
  operation({
    route: "DELETE /sources/:id/events",
    id: "deleteEvents",
    change: { action: "delete_events", kind: "Source" },
    summary: "Delete events",
    description: "Without parameters, all events of the source.",
    query: deletionQuery,
    responses: { 202: { contentType: "text/plain", description: "One space." } },
    handle: (call, context) => deleteEvents(call, call.query(), () => sourceIdOf(call, context), context),
  }),
  operation({
    route: "GET /sources/:id/events/deletions",
    id: "listEventDeletions",
    summary: "List deletions of events with their progress",
    responses: all(eventDeletionSchema),
    handle: async (call, context) => {
      const source = await sourceIdOf(call, context);
      const deletions = await context.ports.history.listDeletions(source);
      return ok(deletions.map((each) => ({ source_id: source, ...deletionResponse(each) })));
    },
  }),
];

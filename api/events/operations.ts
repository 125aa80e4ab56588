import { z } from "zod";
import { isDerived } from "../../domain/event/derived-events.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import { maxLimit, parseLimit, type PageRequest } from "../../domain/page.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { checkChannel, readableChannels } from "../http/request/channels.ts";
import { eventPages, itemCount, parseEventPage, text } from "../http/request/parameters.ts";
import { checkEventIds, checkTimes } from "../http/request/ranges.ts";
import { ok, okPage } from "../http/response/replies.ts";
import { all, page } from "../http/response/schemas.ts";
import type { EventDeletion, Listed, StoredEvent, TimeRange } from "../ports.ts";
import type { Answered } from "../http/response/answered.ts";
import { sourceIdOf } from "../sources/find-source.ts";
import { eventDeletionSchema, eventSchema, legacyEventSchema } from "./schemas.ts";

/** An empty value counts as absent, as in subscriptions. */
const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const filter = z.object({ event_name: optionalText.describe("Name of a channel; empty is the default channel.") });
const timeMs = optionalText
  .refine((value) => value === undefined || /^\d{1,15}$/.test(value), "it must be a time in epoch milliseconds")
  .transform((value) => (value === undefined ? undefined : Number(value)));
const summaries = filter.extend({
  expand: optionalText.describe("`event`: returns whole events, however large they are."),
  since: timeMs.describe("Start of the time range, epoch milliseconds."),
  until: timeMs.describe("End of the time range, epoch milliseconds."),
});
const eventId = optionalText.refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");
const deletion = filter.extend({
  start_id: eventId.describe("First event of the range, inclusive."),
  end_id: eventId.describe("Last event of the range, inclusive."),
});
const legacy = z.object({ n: itemCount.optional().describe("The same as `limit`, and takes precedence.") });

export const eventOperations = [
  operation({
    route: "GET /sources/:id/event_summaries",
    id: "listEvents",
    summary: "List the events of a source",
    query: summaries.extend(eventPages.shape),
    responses: page(eventSchema),
    handle: async (call, context) => {
      const { event_name, expand, since, until } = call.query();
      checkChannel(event_name, readableChannels);
      if (expand !== undefined && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
      const request = { ...parseEventPage(call.parameters), ...timeRange(since, until) };
      const emitter = await sourceIdOf(call, context);
      const found = await pageOf(emitter, event_name, request, context);
      const options = { emitter, expand: expand === "event" };
      return okPage(found, (event) => eventSummary(event, { ...options, indexedAtMs: event.indexedAtMs }), "event");
    },
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
      const { items } = await context.ports.history.pageEvents(emitter, { limit, cursor: null });
      return ok(
        items.map((event) => ({
          id: event.id,
          e: JSON.parse(event.payload) as unknown,
          k: "emit" as const,
          ts: event.ts,
          metadata: eventMetadata(event, emitter),
        })),
      );
    },
  }),
  operation({
    route: "DELETE /sources/:id/events",
    id: "deleteEvents",
    summary: "Delete events",
    description: "Without parameters, all events of the source.",
    query: deletion,
    responses: { 202: { contentType: "text/plain", description: "One space." } },
    handle: async (call, context) => {
      const { event_name, start_id, end_id } = call.query();
      refuseEmptyRange(call);
      checkChannel(event_name, readableChannels);
      checkEventIds(start_id, end_id);
      if (isDerived(event_name))
        throw new InvalidInput(`event_name '${event_name}' cannot be deleted: it shows runs, and contains no events`);
      const source = await sourceIdOf(call, context);
      const range = { ...(start_id === undefined ? {} : { startId: start_id }), ...(end_id === undefined ? {} : { endId: end_id }) };
      if (event_name === scheduledChannel) await context.ports.history.deleteScheduled(source, range);
      else await context.ports.history.deleteEvents(source, { ...range, ...(event_name === undefined ? {} : { channel: event_name }) });
      // Known clients assert exactly this body.
      return { status: 202, text: " " };
    },
  }),
  operation({
    route: "GET /sources/:id/events/deletions",
    id: "listEventDeletions",
    summary: "List deletions of events with their progress",
    responses: all(eventDeletionSchema),
    handle: async (call, context) => {
      const source = await sourceIdOf(call, context);
      const deletions = await context.ports.history.listDeletions(source);
      return ok(deletions.map((each) => deletionResponse(each, source)));
    },
  }),
];

function pageOf(
  emitter: string,
  channel: string | undefined,
  request: PageRequest & TimeRange,
  { ports: { history } }: Pick<ApiContext, "ports">,
): Promise<Listed<StoredEvent>> {
  if (isDerived(channel)) return history.pageDerived(emitter, channel, request);
  if (channel === scheduledChannel) return history.pageScheduled(emitter, request);
  return history.pageEvents(emitter, { ...request, ...(channel === undefined ? {} : { channel }) });
}

/**
 * Protects against unset variables of scripts, which must not delete everything: a single parameter must have a value. Clients that
 * always send both bounds leave both empty to delete all events.
 * @throws InvalidInput
 */
function refuseEmptyRange({ emptyParameters, parameters }: Call): void {
  const names = Object.keys(deletion.shape);
  const [empty] = emptyParameters.filter((name) => names.includes(name));
  const sendsBothBounds = emptyParameters.includes("start_id") && emptyParameters.includes("end_id");
  if (empty === undefined || sendsBothBounds || names.some((name) => parameters[name] !== undefined)) return;
  throw new InvalidInput(
    `nothing was deleted: ${empty} is empty; give it a value, or send no parameters to delete all events of the source`,
    { code: "empty_range" },
  );
}

/** @throws InvalidInput */
function timeRange(since: number | undefined, until: number | undefined): TimeRange {
  checkTimes(since, until);
  return { ...(since === undefined ? {} : { sinceMs: since }), ...(until === undefined ? {} : { untilMs: until }) };
}

function deletionResponse(
  { id, startId, endId, channel, deleted, createdAtMs, finishedAtMs }: EventDeletion,
  source: string,
): Answered<typeof eventDeletionSchema> {
  return {
    id,
    source_id: source,
    status: finishedAtMs === null ? "pending" : "finished",
    start_id: startId,
    end_id: endId,
    event_name: channel,
    deleted,
    created_at_ms: createdAtMs,
    finished_at_ms: finishedAtMs,
  };
}

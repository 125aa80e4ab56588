import { z } from "zod";
import { isDerived } from "../../domain/event/derived-events.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import { maxLimit, parseLimit, type PageRequest } from "../../domain/page.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { ok, okPage, type Call } from "../http/request/call.ts";
import { checkChannel } from "../http/request/channels.ts";
import { itemCount, parse, parseEventPage, text } from "../http/request/parameters.ts";
import { checkEventIds, checkTimes } from "../http/request/ranges.ts";
import type { EventDeletion, Listed, StoredEvent, TimeRange } from "../ports.ts";
import type { Answered } from "../resources/response.ts";
import type { eventDeletionSchema } from "../runs/schemas.ts";
import type { ApiContext } from "../context.ts";
import { sourceIdOf } from "../sources/operations.ts";

/** An empty value counts as absent, as in subscriptions. */
const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const filter = z.object({ event_name: optionalText });
const timeMs = optionalText
  .refine((value) => value === undefined || /^\d{1,15}$/.test(value), "it must be a time in epoch milliseconds")
  .transform((value) => (value === undefined ? undefined : Number(value)));
export const summaries = filter.extend({ expand: optionalText, since: timeMs, until: timeMs });
const eventId = optionalText.refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");
export const deletion = filter.extend({ start_id: eventId, end_id: eventId });
export const legacy = z.object({ n: itemCount.optional(), limit: itemCount.optional() });

/** The system channels that can be read. */
export const readableChannels = ["$errors", "$logs", scheduledChannel];

export function eventRoutes(context: ApiContext) {
  const { history } = context.ports;
  const pageOf = (emitter: string, channel: string | undefined, page: PageRequest & TimeRange): Promise<Listed<StoredEvent>> => {
    if (isDerived(channel)) return history.pageDerived(emitter, channel, page);
    if (channel === scheduledChannel) return history.pageScheduled(emitter, page);
    return history.pageEvents(emitter, { ...page, ...(channel === undefined ? {} : { channel }) });
  };
  return {
    summaries: async (call: Call) => {
      const { event_name, expand, since, until } = parse(summaries, call.parameters);
      checkChannel(event_name, readableChannels);
      if (expand !== undefined && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
      const page = { ...parseEventPage(call.parameters), ...timeRange(since, until) };
      const emitter = await sourceIdOf(call, context);
      const found = await pageOf(emitter, event_name, page);
      return okPage(
        found,
        (event) => eventSummary(event, { emitter, indexedAtMs: event.indexedAtMs, expand: expand === "event" }),
        "event",
      );
    },
    // The form before event_summaries, which some clients still use.
    legacy: async (call: Call) => {
      const { n, limit: given } = parse(legacy, call.parameters);
      const limit = n === undefined ? parseLimit(given, "limit", maxLimit) : parseLimit(n, "n");
      const emitter = await sourceIdOf(call, context);
      const { items } = await history.pageEvents(emitter, { limit, cursor: null });
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
    delete: async (call: Call) => {
      const { event_name, start_id, end_id } = parse(deletion, call.parameters);
      refuseEmptyRange(call);
      checkChannel(event_name, readableChannels);
      checkEventIds(start_id, end_id);
      if (isDerived(event_name))
        throw new InvalidInput(`event_name '${event_name}' cannot be deleted: it shows runs, and contains no events`);
      const source = await sourceIdOf(call, context);
      const range = { ...(start_id === undefined ? {} : { startId: start_id }), ...(end_id === undefined ? {} : { endId: end_id }) };
      if (event_name === scheduledChannel) await history.deleteScheduled(source, range);
      else await history.deleteEvents(source, { ...range, ...(event_name === undefined ? {} : { channel: event_name }) });
      // Known clients assert exactly this body.
      return { status: 202, text: " " };
    },
    deletions: async (call: Call) => {
      const source = await sourceIdOf(call, context);
      const deletions = await history.listDeletions(source);
      return ok(deletions.map((deletion) => deletionResponse(deletion, source)));
    },
  };
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

import { z } from "zod";
import { isDerived } from "../../domain/derived-events.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event-id.ts";
import { eventMetadata, eventSummary } from "../../domain/event-summary.ts";
import { parseLimit } from "../../domain/page.ts";
import { ok, okPage, type Call } from "../http/call.ts";
import { parse, parsePage, text } from "../http/parameters.ts";
import type { EventDeletion, TimeRange } from "../ports.ts";
import type { Answered } from "../responses/answered.ts";
import type { eventDeletionSchema } from "../responses/schemas-history.ts";
import type { ApiContext } from "./context.ts";
import { sourceIdOf } from "./sources.ts";

/** An empty value means the same as none, here as in subscriptions. */
const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const filter = z.object({ event_name: optionalText });
const timeMs = optionalText
  .refine((value) => value === undefined || /^\d{1,15}$/.test(value), "it must be a time in epoch milliseconds")
  .transform((value) => (value === undefined ? undefined : Number(value)));
export const summaries = filter.extend({ expand: optionalText, since: timeMs, until: timeMs });
const eventId = optionalText.refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");
export const deletion = filter.extend({ start_id: eventId, end_id: eventId });
export const legacy = z.object({ n: z.string().optional() });

export function eventRoutes(context: ApiContext) {
  const { history } = context.ports;
  return {
    summaries: async (call: Call) => {
      const { event_name, expand, since, until } = parse(summaries, call.parameters);
      if (expand !== undefined && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
      const page = { ...parsePage(call.parameters, "event"), ...timeRange(since, until) };
      const emitter = await sourceIdOf(call, context);
      const found = isDerived(event_name)
        ? await history.pageDerived(emitter, event_name, page)
        : await history.pageEvents(emitter, { ...page, ...(event_name === undefined ? {} : { channel: event_name }) });
      return okPage(
        found,
        (event) => eventSummary(event, { emitter, indexedAtMs: event.indexedAtMs, expand: expand === "event" }),
        "event",
      );
    },
    // The form before event_summaries: some clients still read it.
    legacy: async (call: Call) => {
      const limit = parseLimit(parse(legacy, call.parameters).n, "n");
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
      if (isDerived(event_name))
        throw new InvalidInput(`event_name '${event_name}' cannot be deleted: it tells of runs, and holds no events`);
      const source = await sourceIdOf(call, context);
      await history.deleteEvents(source, {
        ...(start_id === undefined ? {} : { startId: start_id }),
        ...(end_id === undefined ? {} : { endId: end_id }),
        ...(event_name === undefined ? {} : { channel: event_name }),
      });
      // Known clients assert this very body.
      return { status: 202, text: " " };
    },
    deletions: async (call: Call) => {
      const source = await sourceIdOf(call, context);
      const deletions = await history.listDeletions(source);
      return ok(deletions.map((deletion) => deletionResponse(deletion, source)));
    },
  };
}

/** @throws InvalidInput */
function timeRange(since: number | undefined, until: number | undefined): TimeRange {
  if (since !== undefined && until !== undefined && since > until)
    throw new InvalidInput(`since ${since} is after until ${until}: it must not be`);
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

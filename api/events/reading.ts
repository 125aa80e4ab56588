import { z } from "zod";
import { isDerived } from "../../domain/event/committed-event.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import type { PageRequest } from "../../domain/page.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { checkChannel, readableChannels } from "../http/request/channels.ts";
import { eventPages, parseEventPage, text } from "../http/request/parameters.ts";
import { checkEventIds, checkTimes, refuseEmptyRange } from "../http/request/ranges.ts";
import { okList } from "../http/response/replies.ts";
import type { EventDeletion, Listed, StoredEvent, TimeRange } from "../ports.ts";

/** The events of a source or workflow: lists and deletions, for the operations of both. */

/** An empty value counts as absent, as in subscriptions. */
const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const filter = z.object({ event_name: optionalText.describe("Name of a channel; empty is the default channel.") });
const timeMs = optionalText
  .refine((value) => value === undefined || /^\d{1,15}$/.test(value), "it must be a time in epoch milliseconds")
  .transform((value) => (value === undefined ? undefined : Number(value)));
const eventId = optionalText.refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");

/** Of a list with a channel of its own. */
export const channelQuery = z
  .object({
    expand: optionalText.describe("`event`: returns whole events, however large they are."),
    since: timeMs.describe("Start of the time range, epoch milliseconds."),
    until: timeMs.describe("End of the time range, epoch milliseconds."),
  })
  .extend(eventPages.shape);
export const eventsQuery = filter.extend(channelQuery.shape);
export const deletionQuery = filter.extend({
  start_id: eventId.describe("First event of the range, inclusive."),
  end_id: eventId.describe("Last event of the range, inclusive."),
});

interface EventsRequest extends z.output<typeof channelQuery> {
  readonly event_name?: string | undefined;
}

/** A page of events. @param findEmitter is called once the parameters are valid */
export async function listEvents(
  call: Call,
  { event_name, expand, since, until }: Pick<EventsRequest, "event_name" | "expand" | "since" | "until">,
  findEmitter: () => Promise<string>,
  context: ApiContext,
) {
  checkChannel(event_name, readableChannels);
  if (expand !== undefined && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
  const request = { ...parseEventPage(call.parameters), ...timeRange(since, until) };
  const emitter = await findEmitter();
  const options = { emitter, expand: expand === "event" };
  const show = (event: StoredEvent) => eventSummary(event, { ...options, indexedAtMs: event.indexedAtMs });
  return okList((page) => pageOf(emitter, event_name, { ...request, ...page }, context), request, show, "event");
}

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

/** Deletes a range of events. @param findEmitter is called once the parameters are valid */
export async function deleteEvents(
  call: Call,
  { event_name, start_id, end_id }: z.output<typeof deletionQuery>,
  findEmitter: () => Promise<string>,
  { ports: { history } }: ApiContext,
) {
  refuseEmptyDeletion(call);
  checkChannel(event_name, readableChannels);
  checkEventIds(start_id, end_id);
  if (isDerived(event_name)) throw new InvalidInput(`event_name '${event_name}' cannot be deleted: it shows runs, and contains no events`);
  const emitter = await findEmitter();
  const range = { ...(start_id === undefined ? {} : { startId: start_id }), ...(end_id === undefined ? {} : { endId: end_id }) };
  if (event_name === scheduledChannel) await history.deleteScheduled(emitter, range);
  else await history.deleteEvents(emitter, { ...range, ...(event_name === undefined ? {} : { channel: event_name }) });
  // Known clients assert exactly this body.
  return { status: 202, text: " " } as const;
}

/** Clients that always send both bounds leave both empty to delete all events. @throws InvalidInput */
function refuseEmptyDeletion(call: Call): void {
  if (["start_id", "end_id"].every((bound) => call.emptyParameters.includes(bound))) return;
  const names = Object.keys(deletionQuery.shape);
  refuseEmptyRange(call, names, { nothing: "nothing was deleted", all: "send no parameters to delete all events" });
}

/** @throws InvalidInput */
function timeRange(since: number | undefined, until: number | undefined): TimeRange {
  checkTimes(since, until);
  return { ...(since === undefined ? {} : { sinceMs: since }), ...(until === undefined ? {} : { untilMs: until }) };
}

export const deletionResponse = ({ id, startId, endId, channel, deleted, createdAtMs, finishedAtMs }: EventDeletion) => ({
  id,
  status: finishedAtMs === null ? ("pending" as const) : ("finished" as const),
  start_id: startId,
  end_id: endId,
  event_name: channel,
  deleted,
  created_at_ms: createdAtMs,
  finished_at_ms: finishedAtMs,
});

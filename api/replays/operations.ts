import { z } from "zod";
import { isDerived } from "../../domain/event/committed-event.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { operation } from "../context.ts";
import { optional, optionalText, text } from "../http/request/parameters.ts";
import { checkEventIds, refuseEmptyRange } from "../http/request/ranges.ts";
import { accepted } from "../http/response/replies.ts";
import { inProgress } from "../http/response/schemas.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceOf } from "../sources/find-source.ts";
import { checkListener, replayEvents } from "./replay.ts";

const eventId = optionalText(text).refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");
const replayRequest = z.object({
  start_id: eventId.describe("First event of the range, inclusive."),
  end_id: eventId.describe("Last event of the range, inclusive."),
  event_name: optionalText(text).describe("Only events of this channel."),
  listener_id: optional(text).describe("A webhook, source or workflow; by default all current listeners."),
});

const replaySchema = z
  .object({
    id: z.string().describe("`rp_…`."),
    source_id: z.string(),
    events: z.int().describe("Number of events that are delivered again."),
    start_id: z.string().nullable(),
    end_id: z.string().nullable(),
    event_name: z.string().nullable(),
    listener_id: z.string().nullable(),
  })
  .meta({ id: "Replay" });

export const replayOperations = [
  operation({
    route: "POST /sources/:id/replays",
    id: "replayEvents",
    change: { action: "replay", kind: "Source" },
    summary: "Deliver past events again",
    description: "Without fields, all stored events, to all listeners.",
    body: replayRequest,
    neverEmpty: ["listener_id"],
    responses: inProgress(replaySchema),
    handle: async (call, context) => {
      refuseEmptyRange(call, ["start_id", "end_id", "event_name"], {
        nothing: "nothing was replayed",
        all: "send none to replay all events",
      });
      const { start_id, end_id, event_name, listener_id } = call.body();
      checkEventIds(start_id, end_id);
      if (isDerived(event_name))
        throw new InvalidInput(`event_name '${event_name}' cannot be replayed: it shows runs, and contains no events`);
      if (event_name === scheduledChannel)
        throw new InvalidInput(`event_name '${event_name}' cannot be replayed: its events are delivered when they are due`);
      const found = await sourceOf(call, context);
      const owner = await context.access.ownerOf(found);
      if (owner === undefined) throw new NotFound();
      if (listener_id !== undefined) await checkListener(listener_id, call.user, context.access);
      const source = publicIdOf(found);
      const range = { startId: start_id, endId: end_id, channel: event_name };
      const { id, events } = await replayEvents({ source, owner, ...range, listener: listener_id, trace: call.trace }, context);
      return accepted({
        id,
        source_id: source,
        events: events.length,
        start_id: events.at(0) ?? null,
        end_id: events.at(-1) ?? null,
        event_name: event_name ?? null,
        listener_id: listener_id ?? null,
      });
    },
  }),
];

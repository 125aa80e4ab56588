import { z } from "zod";
import { isDerived } from "../../domain/event/derived-events.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { accepted, type Call } from "../http/request/call.ts";
import { parse, text } from "../http/request/parameters.ts";
import { checkEventIds } from "../http/request/ranges.ts";
import { checkListener, replayEvents } from "./replay.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { sourceOf } from "../sources/operations.ts";

/** Absent, null and empty are equivalent. */
const optionalText = text.nullish().transform((value) => (value === null || value === "" ? undefined : value));
const eventId = optionalText.refine((value) => value === undefined || isEventId(value), "it must be <epoch milliseconds>-<sequence>");
export const replayRequest = z.object({ start_id: eventId, end_id: eventId, event_name: optionalText, listener_id: optionalText });

export function replayRoutes(context: ApiContext) {
  const { access } = context;
  return {
    create: async (call: Call) => {
      const { start_id, end_id, event_name, listener_id } = parse(replayRequest, call.body);
      checkEventIds(start_id, end_id);
      if (isDerived(event_name))
        throw new InvalidInput(`event_name '${event_name}' cannot be replayed: it shows runs, and contains no events`);
      if (event_name === scheduledChannel)
        throw new InvalidInput(`event_name '${event_name}' cannot be replayed: its events are delivered when they are due`);
      const found = await sourceOf(call, context);
      const owner = await access.ownerOf(found);
      if (owner === undefined) throw new NotFound();
      if (listener_id !== undefined) await checkListener(listener_id, call.user, access);
      const source = publicIdOf(found);
      const range = { startId: start_id, endId: end_id, channel: event_name };
      const { id, events } = await replayEvents({ source, owner, ...range, listener: listener_id, trace: call.trace }, context);
      return accepted({
        id,
        source_id: source,
        events: events.length,
        start_id: events.at(0)?.id ?? null,
        end_id: events.at(-1)?.id ?? null,
        event_name: event_name ?? null,
        listener_id: listener_id ?? null,
      });
    },
  };
}

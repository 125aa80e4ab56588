import type { CommittedEvent } from "../event/committed-event.ts";
import { isEventId, parseEventId } from "../event/event-id.ts";

/** The channel that lists a source's scheduled events until they are due, and cancels them. */
export const scheduledChannel = "$in";

/**
 * Whether an event is scheduled: its `delivery_ts` is later than its commit. Until it is due, only `$in` lists it. Then it is emitted: it
 * enters the event history and is delivered to the subscribers that its channel has at that time.
 */
export function isScheduled<E extends Pick<CommittedEvent, "id" | "deliverAt">>(event: E): event is E & { readonly deliverAt: number } {
  return event.deliverAt !== undefined && isEventId(event.id) && event.deliverAt > parseEventId(event.id).ms;
}

/**
 * The id of a scheduled event once it is due, which orders it by the time of its emission. It is derived from the first id, so it is the
 * same after a crash. The sequence contains the delay, so it differs from that of all events that a run commits in the same millisecond.
 */
export function dueEventId({ id, deliverAt }: { readonly id: string; readonly deliverAt: number }): string {
  const { ms, sequence } = parseEventId(id);
  const due = Math.trunc(deliverAt);
  return `${due}-${((due - ms) * maxEventsPerRun + sequence) % maxSequence}`;
}

const maxEventsPerRun = 10_000;
const maxSequence = 10 ** 15;

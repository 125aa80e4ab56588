import type { CommittedEvent } from "../run/commit.ts";
import { isEventId, parseEventId } from "../event/event-id.ts";

/** The channel that lists a source's scheduled events until they are due, and cancels them. */
export const scheduledChannel = "$in";

/**
 * An event with a `delivery_ts` later than its commit is scheduled. Until it is due it is listed on `$in` alone. Then it is emitted: it gets
 * its place in the history and goes to those who listen to its channel at that time.
 */
export function isScheduled<E extends Pick<CommittedEvent, "id" | "deliverAt">>(event: E): event is E & { readonly deliverAt: number } {
  return event.deliverAt !== undefined && isEventId(event.id) && event.deliverAt > parseEventId(event.id).ms;
}

/**
 * Id of a scheduled event once it is due, so that it orders by the time at which it was emitted. It follows from the first id: repeated
 * after a crash it is the same. The sequence holds the delay, so it differs from that of every event that a run commits in that millisecond.
 */
export function dueEventId({ id, deliverAt }: { readonly id: string; readonly deliverAt: number }): string {
  const { ms, sequence } = parseEventId(id);
  const due = Math.trunc(deliverAt);
  return `${due}-${((due - ms) * maxEventsPerRun + sequence) % maxSequence}`;
}

const maxEventsPerRun = 10_000;
const maxSequence = 10 ** 15;

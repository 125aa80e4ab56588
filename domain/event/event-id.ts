import { InvalidInput } from "../errors.ts";
import { hash } from "../hash.ts";

/**
 * Id of an event: `<epoch ms>-<sequence>`, unique within its source or workflow, and growing strictly within a source. The time is that of
 * the commit. In a source it is never earlier than that of the event before it, so a clock that goes back does not make an id smaller: the
 * sequence grows instead.
 */
export interface EventId {
  readonly ms: number;
  readonly sequence: number;
}

/** @throws InvalidInput */
export function parseEventId(text: string): EventId {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  if (match === null) throw new InvalidInput(`event id '${text}' is invalid: it must be <epoch milliseconds>-<sequence>`);
  return { ms: Number(match[1]), sequence: Number(match[2]) };
}

export function isEventId(text: string): boolean {
  return /^\d{1,15}-\d{1,15}$/.test(text);
}

/** The id after `last` (null: there is none yet) at the time `nowMs`. */
export function nextEventId(last: string | null, nowMs: number): string {
  if (last === null) return `${nowMs}-0`;
  const { ms, sequence } = parseEventId(last);
  return nowMs > ms ? `${nowMs}-0` : `${ms}-${sequence + 1}`;
}

/** More than the events of a run. */
const eventsPerRun = 20_000;

/**
 * The id of an event of a workflow run, by its index among the run's events. Runs of a workflow end side by side, so the sequence contains
 * the run: ids of one millisecond are in no particular order, and different for different runs.
 */
export const eventIdOfRun = (run: string, index: number, nowMs: number): string => `${nowMs}-${hash(run) * eventsPerRun + index}`;

/** Negative when `a` is older than `b`; ids order as numbers, not as text. */
export function compareEventIds(a: string, b: string): number {
  const [left, right] = [parseEventId(a), parseEventId(b)];
  return left.ms - right.ms || left.sequence - right.sequence;
}

import { compareEventIds } from "../../domain/event/event-id.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { History } from "../ports.ts";
import { itemsOf } from "./commit-items.ts";
import { itemOf, type Item } from "./frames.ts";
import type { RunMessages } from "./ports.ts";

/** Start of a stream: new events, after an event, or with the last few events. */
export type From =
  | { readonly kind: "now" }
  | { readonly kind: "after"; readonly id: string }
  | { readonly kind: "last"; readonly count: number };

export interface Followed {
  readonly source: string;
  /** Subject on RUNS. */
  readonly subject: string;
  /** Absent: all channels except `$errors` and `$logs`. */
  readonly channel: string | undefined;
}

/**
 * Reads the events before those that a stream receives live, oldest first.
 *
 * The stream must receive live commits already; the first of them is the end of the gap. The position of the history is read
 * before its events: rows and position are written in one transaction, so every commit up to the position is among the events.
 * Commits after the position are read from RUNS, up to the first live commit, or to the end according to the stream's leader,
 * which is never behind delivered messages. So every commit is in the history, read here, or received live: there is no gap.
 * A commit may be in two of them. Ids grow strictly within a source, so an event that is not after the last one is a duplicate.
 */
export async function readGap(
  { history, runs }: { readonly history: Pick<History, "pageEvents" | "listEvents">; readonly runs: RunMessages },
  followed: Followed,
  from: From,
  firstLive: () => number | undefined,
): Promise<readonly Item[]> {
  if (from.kind === "now") return [];
  const recorded = await runs.recordedUpTo(followed.subject);
  const stored = await storedItems(history, followed, from);
  const unrecorded = await unrecordedItems(runs, followed, recorded, firstLive);
  const items = [...stored, ...unrecorded.filter(isBehind(stored, kindOfId(followed.source) !== "workflow"))];
  return from.kind === "last" ? items.slice(-from.count) : items;
}

/** Reads all events at once: events that are deleted between two pages would be a gap. */
async function storedItems(
  history: Pick<History, "pageEvents" | "listEvents">,
  { source, channel }: Followed,
  from: Exclude<From, { kind: "now" }>,
): Promise<readonly Item[]> {
  const filter = channel === undefined ? {} : { channel };
  const events =
    from.kind === "after"
      ? await history.listEvents(source, { startId: from.id, ...filter })
      : (await history.pageEvents(source, { limit: from.count, cursor: null, ...filter })).items.toReversed();
  return events.map((event) => itemOf(event, source, event.id));
}

/**
 * Whether an item that had not been recorded is not among the stored ones, which were read later, nor older than all of them. Ids of events
 * grow with each commit of a source. Runs of a workflow go side by side, so theirs do not.
 */
function isBehind(stored: readonly Item[], isOrdered: boolean): (item: Item) => boolean {
  const [first, last] = [stored[0]?.id, stored.at(-1)?.id];
  const known = new Set(stored.map(({ id }) => id));
  return ({ id }) => {
    if (first === undefined || last === undefined) return true;
    if (id === undefined) return !isOrdered;
    return isOrdered ? compareEventIds(id, last) > 0 : compareEventIds(id, first) > 0 && !known.has(id);
  };
}

async function unrecordedItems(
  runs: RunMessages,
  { source, subject, channel }: Followed,
  recorded: number,
  firstLive: () => number | undefined,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const isBeforeLive = (sequence: number): boolean => sequence < (firstLive() ?? Infinity);
  // Each run of a workflow has a subject of its own.
  const messages = kindOfId(source) === "workflow" ? `${subject}.*` : subject;
  let sequence = recorded + 1;
  while (isBeforeLive(sequence)) {
    const message = await runs.findNext(messages, sequence);
    if (message === undefined || !isBeforeLive(message.sequence)) break;
    items.push(...itemsOf(message));
    sequence = message.sequence + 1;
  }
  return items.filter((item) => item.id !== undefined && (channel === undefined || item.channel === channel));
}

import { compareEventIds } from "../../domain/event/event-id.ts";
import { kindOfId } from "../../domain/ids.ts";
import { partsOf, type ItemSize } from "../../domain/parts.ts";
import { maxPartBytes } from "../http/response/list-parts.ts";
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
  { history, runs }: Ports,
  followed: Followed,
  from: From,
  { firstLive, hold }: GapReader,
): Promise<AsyncIterable<Item>> {
  if (from.kind === "now") return itemsOfGap(history, followed, { stored: [], unrecorded: noItems }, hold);
  const recorded = await runs.recordedUpTo(followed.subject);
  const stored = await storedSizes(history, followed, from);
  const found = await unrecordedItems(runs, followed, recorded, { firstLive, hold });
  const unrecorded = { ...found, items: found.items.filter(isBehind(stored, kindOfId(followed.source) !== "workflow")) };
  if (from.kind === "after") return itemsOfGap(history, followed, { stored, unrecorded }, hold);
  const first = Math.max(0, stored.length + unrecorded.items.length - from.count);
  const shown = {
    stored: stored.slice(first),
    unrecorded: { ...unrecorded, items: unrecorded.items.slice(Math.max(0, first - stored.length)) },
  };
  return itemsOfGap(history, followed, shown, hold);
}

type Ports = { readonly history: Pick<History, "listEventSizes" | "listEvents">; readonly runs: RunMessages };

export interface GapReader {
  readonly firstLive: () => number | undefined;
  /** States how many bytes of the gap are in memory. False: that is too much, so the gap and the stream end here. */
  readonly hold: (bytes: number) => boolean;
}

interface Unrecorded {
  readonly items: readonly Item[];
  readonly bytes: number;
}

const noItems: Unrecorded = { items: [], bytes: 0 };

/** Reads stored events in parts, each when the one before is taken. Events that are deleted in the meantime are missing, as after a reconnect. */
async function* itemsOfGap(
  history: Ports["history"],
  { source, channel }: Followed,
  { stored, unrecorded }: { readonly stored: readonly ItemSize[]; readonly unrecorded: Unrecorded },
  hold: GapReader["hold"],
): AsyncGenerator<Item> {
  for (const part of partsOf(stored, maxPartBytes)) {
    const [first, last] = [part[0]?.id, part.at(-1)?.id];
    if (first === undefined || last === undefined) continue;
    if (!hold(unrecorded.bytes + part.reduce((sum, { bytes }) => sum + bytes, 0))) return;
    const range = { startId: first, endId: last, ...(channel === undefined ? {} : { channel }) };
    for (const event of await history.listEvents(source, range)) yield itemOf(event, source, event.id);
  }
  yield* unrecorded.items;
}

/** All at once: events that are deleted between two queries would be a gap. */
async function storedSizes(
  history: Ports["history"],
  { source, channel }: Followed,
  from: Exclude<From, { kind: "now" }>,
): Promise<readonly ItemSize[]> {
  const filter = channel === undefined ? {} : { channel };
  if (from.kind === "after") return history.listEventSizes(source, { startId: from.id, ...filter });
  return (await history.listEventSizes(source, filter)).slice(-from.count);
}

/**
 * Whether an item that had not been recorded is not among the stored ones, which were read later, nor older than all of them. Ids of events
 * grow with each commit of a source. Runs of a workflow go side by side, so theirs do not.
 */
function isBehind(stored: readonly ItemSize[], isOrdered: boolean): (item: Item) => boolean {
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
  { firstLive, hold }: GapReader,
): Promise<Unrecorded> {
  const items: Item[] = [];
  let bytes = 0;
  const isBeforeLive = (sequence: number): boolean => sequence < (firstLive() ?? Infinity);
  // Each run of a workflow has a subject of its own.
  const messages = kindOfId(source) === "workflow" ? `${subject}.*` : subject;
  let sequence = recorded + 1;
  while (isBeforeLive(sequence)) {
    const message = await runs.findNext(messages, sequence);
    if (message === undefined || !isBeforeLive(message.sequence)) break;
    const selected = itemsOf(message).filter((item) => item.id !== undefined && (channel === undefined || item.channel === channel));
    bytes += selected.reduce((sum, { frame }) => sum + Buffer.byteLength(frame), 0);
    if (!hold(bytes)) break;
    items.push(...selected);
    sequence = message.sequence + 1;
  }
  return { items, bytes };
}

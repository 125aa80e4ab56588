import { compareEventIds } from "../../domain/event-id.ts";
import type { History } from "../ports.ts";
import { itemsOf } from "./commit-items.ts";
import { itemOf, type Item } from "./frames.ts";
import type { RunMessages } from "./ports.ts";

/** Where a stream begins: with what comes, behind an event, or with the last few events. */
export type From =
  | { readonly kind: "now" }
  | { readonly kind: "after"; readonly id: string }
  | { readonly kind: "last"; readonly count: number };

export interface Followed {
  readonly source: string;
  /** On RUNS. */
  readonly subject: string;
  /** Absent: every channel that is emitted to. */
  readonly channel: string | undefined;
}

/**
 * The events that came before those a stream hears live, oldest first.
 *
 * The stream must hear already: what it has heard lies at some sequence of RUNS and behind, so the gap ends there. Before that, the
 * position of the history is read first and its events second: rows and position are written in one transaction, so each commit up to
 * the position is among those events. The commits behind the position are read from RUNS itself, up to what was heard, or to the end as
 * the stream's leader knows it, which is no earlier than anything that was handed out. So every commit is in the history, or read here, or
 * heard: there is no hole. One may be in two of them; ids grow strictly within a source, so whatever is not behind the last is a double.
 */
export async function readGap(
  { history, runs }: { readonly history: Pick<History, "pageEvents" | "listEvents">; readonly runs: RunMessages },
  followed: Followed,
  from: From,
  firstHeard: () => number | undefined,
): Promise<readonly Item[]> {
  if (from.kind === "now") return [];
  const recorded = await runs.recordedUpTo(followed.subject);
  const stored = await storedItems(history, followed, from);
  const unrecorded = await unrecordedItems(runs, followed, recorded, firstHeard);
  const last = stored.at(-1)?.id;
  const items = [...stored, ...unrecorded.filter(({ id }) => last === undefined || (id !== undefined && compareEventIds(id, last) > 0))];
  return from.kind === "last" ? items.slice(-from.count) : items;
}

/** At once rather than in pages: what the history forgets between two pages would be a hole. */
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

async function unrecordedItems(
  runs: RunMessages,
  { subject, channel }: Followed,
  recorded: number,
  firstHeard: () => number | undefined,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  const isBeforeHeard = (sequence: number): boolean => sequence < (firstHeard() ?? Infinity);
  let sequence = recorded + 1;
  while (isBeforeHeard(sequence)) {
    const message = await runs.findNext(subject, sequence);
    if (message === undefined || !isBeforeHeard(message.sequence)) break;
    items.push(...itemsOf(message));
    sequence = message.sequence + 1;
  }
  return items.filter((item) => item.id !== undefined && (channel === undefined || item.channel === channel));
}

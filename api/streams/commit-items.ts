import type { CommittedEvent } from "../../domain/event/committed-event.ts";
import { errorEvent, logEvent, logPlace, type DerivedEvent } from "../../domain/run/derived-events.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import { isScheduled, scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { itemOf, sentItem, type Item } from "./frames.ts";
import type { RunMessage } from "./ports.ts";

/** A scheduled event appears only on `$in`. */
function eventItem(event: CommittedEvent, source: string): Item {
  return isScheduled(event) ? { ...itemOf(event, source), channel: scheduledChannel } : itemOf(event, source, event.id);
}

/** All items of a commit; none of a forged one, which the history ignores too. */
export function itemsOf(message: RunMessage): readonly Item[] {
  const commit = readCommit(message.text(), message.subject);
  if (commit === undefined) return [];
  const { source, events, logs, error, workflow } = commit;
  const derived = (event: DerivedEvent): Item => itemOf({ ...event, dedupeId: null, summary: null }, source);
  return [
    ...events.filter(({ id }) => isEventId(id)).map((event) => eventItem(event, source)),
    ...(workflow?.sends ?? []).filter(({ kind }) => kind === "sse").flatMap((send) => sentItem(send, source) ?? []),
    ...(error === null ? [] : [derived(errorEvent(commit, error))]),
    ...logs.map((record, index) => derived(logEvent(commit, record, logPlace(commit, index)))),
  ];
}

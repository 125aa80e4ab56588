import type { CommittedEvent } from "../../domain/commit.ts";
import { errorEvent, logEvent, type DerivedEvent } from "../../domain/derived-events.ts";
import { isEventId } from "../../domain/event-id.ts";
import { readCommit } from "../../domain/read-commit.ts";
import { isScheduled, scheduledChannel } from "../../domain/scheduled-event.ts";
import { itemOf, type Item } from "./frames.ts";
import type { RunMessage } from "./ports.ts";

/** A scheduled event shows on `$in` alone. */
function eventItem(event: CommittedEvent, source: string): Item {
  return isScheduled(event) ? { ...itemOf(event, source), channel: scheduledChannel } : itemOf(event, source, event.id);
}

/** All that a commit has to tell; nothing of one that is forged, which the history leaves out as well. */
export function itemsOf(message: RunMessage): readonly Item[] {
  const commit = readCommit(message.text(), message.subject);
  if (commit === undefined) return [];
  const { source, events, logs, error } = commit;
  const derived = (event: DerivedEvent): Item => itemOf({ ...event, dedupeId: null, summary: null }, source);
  return [
    ...events.filter(({ id }) => isEventId(id)).map((event) => eventItem(event, source)),
    ...(error === null ? [] : [derived(errorEvent(commit, error))]),
    ...logs.map((record, index) => derived(logEvent(commit, record, index))),
  ];
}

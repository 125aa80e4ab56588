import type { RunStatus } from "../../domain/workflow/run-state.ts";
import type { FoundItem, SearchPage } from "./search.ts";

/** Runners may forge times that no date can be. */
const maxTime = 8.64e15;
const shownTime = (ms: number): number => Math.max(-maxTime, Math.min(ms, maxTime));

export const searchResponse = ({ items, position }: SearchPage, cursor: string | null) => ({
  items: items.map(itemResponse),
  cursor,
  searched_to_ms: position === undefined ? null : shownTime(position.at),
});

export function itemResponse({ kind, level, candidate, emitterName, excerpt }: FoundItem) {
  const { at, emitter, run, status, channel } = candidate;
  const id = kind === "run" || kind === "error" ? run : rowId(candidate);
  return {
    kind,
    id,
    at_ms: shownTime(at),
    source_id: emitter,
    source_name: emitterName,
    run_id: run,
    trace_id: kind === "event" ? `${emitter}.${id}` : run,
    level,
    status: status as RunStatus | null, // As committed.
    channel,
    excerpt,
  };
}

/** Of a line the id under which `$logs` emits it. */
const rowId = ({ run, line, at, number }: FoundItem["candidate"]): string => (line === null ? `${at}-${number}` : `${run}l${line}`);

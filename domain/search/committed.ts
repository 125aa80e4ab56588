import type { Commit } from "../run/commit.ts";
import type { EmittedEvent } from "../event/emitted-event.ts";
import { isEventId, parseEventId } from "../event/event-id.ts";
import { logPlace } from "../run/derived-events.ts";
import type { RunError } from "../run-products.ts";
import { isScheduled } from "../schedule/scheduled-event.ts";
import type { RunStatus } from "../workflow/run-state.ts";
import { maxSearchedHead, maxSearchedText, rankOf, type SearchCandidate, type SearchedTable } from "./item.ts";
import type { SearchQuery } from "./query.ts";

/** An item that is not stored yet, or was a moment ago. */
export interface CommittedItem extends SearchCandidate {
  /** State of its run when it was committed. Undefined: unknown. */
  readonly runStatus: RunStatus | undefined;
}

/**
 * What the history stores of a commit, in the order of its positions, oldest first. A run of a workflow commits after each step: it is an
 * item with its first commit, and whenever it does not simply go on.
 */
export function itemsOfCommit(commit: Commit): readonly CommittedItem[] {
  const { source: emitter, run, events, logs, error, workflow } = commit;
  const runStatus: RunStatus = workflow?.status ?? (error === null ? "succeeded" : "failed");
  const common = { emitter, run: run.id, runStatus, ...noFields };
  const due = events.filter((event) => isEventId(event.id) && !isScheduled(event));
  const isFirst = workflow === undefined || workflow.number - (workflow.before?.length ?? 0) === 1;
  const ofRun: CommittedItem = {
    ...common,
    table: workflow === undefined ? "runs" : "workflow_runs",
    at: Math.trunc(workflow?.startedAt ?? run.startedAt),
    number: 0,
    status: runStatus,
    head: workflow?.reason?.slice(0, maxSearchedHead) ?? null,
    body: error === null ? null : errorBody(error, workflow === undefined),
  };
  const ofEvents = due.map(({ id, channel, summary, payload }) => ({ ...common, ...eventFields(id, channel, summary, payload) }));
  const ofLogs = logs.map((record, index) => {
    const place = logPlace(commit, index);
    const body = JSON.stringify(record).slice(0, maxSearchedText);
    return { ...common, table: "logs" as const, at: Math.trunc(record.ts), number: place, line: place, body };
  });
  return [...(isFirst || runStatus !== "running" ? [ofRun] : []), ...ofLogs, ...ofEvents].toSorted(byPosition);
}

/** A scheduled event that has become due. Undefined: the process that announced it did not say which run scheduled it. */
export function itemOfEmitted({ source, eventId, run, channel, summary, payload }: EmittedEvent): CommittedItem | undefined {
  if (eventId === undefined || run === undefined || !isEventId(eventId)) return undefined;
  return { emitter: source, run, runStatus: undefined, ...noFields, ...eventFields(eventId, channel, summary ?? null, payload) };
}

/** Whether the item is what the query asks for, apart from its words, its levels and the names of sources. */
export function isAskedFor({ table, at, run, runStatus, channel }: CommittedItem, query: SearchQuery): boolean {
  if (!isOfKinds(table, runStatus, query)) return false;
  if (query.run !== undefined && run !== query.run) return false;
  if (query.channel !== undefined && channel !== query.channel) return false;
  if (query.statuses !== undefined && (runStatus === undefined || !query.statuses.includes(runStatus))) return false;
  return at >= (query.afterMs ?? -Infinity);
}

function isOfKinds(table: SearchedTable, status: RunStatus | undefined, { events, logs, runs }: SearchQuery): boolean {
  if (table === "events") return events;
  if (table === "logs") return logs;
  return runs === "all" || (runs === "failed" && status === "failed");
}

const noFields = { status: null, channel: null, head: null, body: null, line: null } as const;

function eventFields(id: string, channel: string, summary: string | null, payload: string) {
  const { ms, sequence } = parseEventId(id);
  const head = summary?.slice(0, maxSearchedHead) ?? null;
  return { table: "events" as const, at: ms, number: sequence, channel, head, body: payload.slice(0, maxSearchedText) };
}

/** As the history has it: of a run of a source the summary, of one of a workflow the error itself. */
const errorBody = (error: RunError, isOfSource: boolean): string =>
  JSON.stringify(isOfSource ? { error } : error).slice(0, maxSearchedText);

const byPosition = (a: SearchCandidate, b: SearchCandidate): number =>
  a.at - b.at || rankOf(a.table) - rankOf(b.table) || a.number - b.number;

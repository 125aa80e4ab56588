import { errorEvent, logEvent, logPlace, type DerivedEvent } from "../../domain/run/derived-events.ts";
import type { Commit } from "../../domain/run/commit.ts";
import type { CommittedEvent } from "../../domain/event/committed-event.ts";
import { dueEventId, isScheduled } from "../../domain/schedule/scheduled-event.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import { traceContext, type TraceContext } from "../../domain/traces.ts";
import type { RoutedEvent, ScheduledEvent } from "./delivery.ts";

/** The events of a commit that are due now, then its error on `$errors`, then its log lines on `$logs`. */
export function routedEvents(commit: Commit, hasListeners: (channel: string) => boolean): readonly RoutedEvent[] {
  const events = commit.events.filter((event) => !isScheduled(event)).map((event) => routedEvent(commit, event, event.id));
  if (commit.error !== null && hasListeners("$errors")) events.push(derivedEvent(commit, errorEvent(commit, commit.error)));
  if (commit.logs.length > 0 && hasListeners("$logs"))
    events.push(...commit.logs.map((record, index) => derivedEvent(commit, logEvent(commit, record, logPlace(commit, index)))));
  return events;
}

/** The events of a commit that have a `delivery_ts`. */
export function scheduledEventsOf(commit: Commit, position: CommitPosition): readonly ScheduledEvent[] {
  return commit.events.filter(isScheduled).map((event) => ({
    event: routedEvent(commit, event, dueEventId(event)),
    run: commit.run.id,
    listedId: event.id,
    position,
  }));
}

function routedEvent(commit: Commit, event: CommittedEvent, eventId: string): RoutedEvent {
  const { emitId, channel, ts, payload, dedupeId, summary, deliverAt } = event;
  return {
    emitId,
    eventId,
    source: commit.source,
    owner: commit.owner,
    channel,
    ts,
    payload,
    ...(dedupeId === null ? {} : { dedupeId }),
    ...(summary === null ? {} : { summary }),
    ...(deliverAt === undefined ? {} : { deliverAt }),
    ...originOf(commit),
  };
}

function derivedEvent(commit: Commit, event: DerivedEvent): RoutedEvent {
  return { ...event, eventId: event.emitId, source: commit.source, owner: commit.owner, ...originOf(commit) };
}

/** The hops, path and trace of the run that made the commit, which all of its events carry. */
function originOf({ hops, way, traceparent, tracestate }: Commit): Pick<RoutedEvent, "hops" | "way" | keyof TraceContext> {
  return {
    ...(hops === undefined ? {} : { hops }),
    ...(way === undefined ? {} : { way }),
    ...traceContext({ traceparent, tracestate }),
  };
}

import type { Commit } from "../domain/commit.ts";
import { errorEvent, logEvent, type DerivedEvent } from "../domain/derived-events.ts";
import { traceContext, type TraceContext } from "../domain/traces.ts";
import type { RoutedEvent } from "./delivery.ts";

/** All that a commit gives listeners to hear: its events, then its error on `$errors`, then its log lines on `$logs`. */
export function routedEvents(commit: Commit, hears: (channel: string) => boolean): readonly RoutedEvent[] {
  const { source, owner } = commit;
  const events = commit.events.map(({ emitId, id: eventId, channel, ts, payload, dedupeId, summary, deliverAt }): RoutedEvent => ({
    emitId,
    eventId,
    source,
    owner,
    channel,
    ts,
    payload,
    ...(dedupeId === null ? {} : { dedupeId }),
    ...(summary === null ? {} : { summary }),
    ...(deliverAt === undefined ? {} : { deliverAt }),
    ...travels(commit),
  }));
  if (commit.error !== null && hears("$errors")) events.push(derived(commit, errorEvent(commit, commit.error)));
  if (commit.logs.length > 0 && hears("$logs"))
    events.push(...commit.logs.map((record, index) => derived(commit, logEvent(commit, record, index))));
  return events;
}

function derived(commit: Commit, event: DerivedEvent): RoutedEvent {
  return { ...event, eventId: event.emitId, source: commit.source, owner: commit.owner, ...travels(commit) };
}

/** What all that a commit gives to hear carries along. */
function travels({ hops, way, traceparent, tracestate }: Commit): Pick<RoutedEvent, "hops" | "way" | keyof TraceContext> {
  return {
    ...(hops === undefined ? {} : { hops }),
    ...(way === undefined ? {} : { way }),
    ...traceContext({ traceparent, tracestate }),
  };
}

import { isEventId, parseEventId } from "../event/event-id.ts";
import type { TracedAttempt, TracedEvent } from "./records.ts";
import type { Span, SpanStatus } from "./span.ts";

export const eventSpanId = ({ emitter, emitId }: Pick<TracedEvent, "emitter" | "emitId">): string => `${emitter}.${emitId}`;

/** The id by which a trace of the event is asked for: event ids are unique within their emitter. */
export const eventReference = (emitter: string, event: string): string => `${emitter}.${event}`;

export function eventSpan(event: TracedEvent): Span {
  const { emitter: object, run, id } = event;
  const at = id !== null && isEventId(id) ? parseEventId(id).ms : null;
  return {
    id: eventSpanId(event),
    kind: "event",
    name: event.channel === "" ? "Event" : event.channel,
    ...(event.summary === null ? {} : { detail: event.summary }),
    startedAt: at,
    endedAt: at,
    about: { object, ...(id === null ? {} : { event: id }), ...(run === null ? {} : { run }) },
    ...(id === null ? { isGone: true } : {}),
  };
}

/** An event of which only the ids are known: it expired, was deleted, or is not due yet. */
export const goneEvent = (cause: Pick<TracedEvent, "emitter" | "emitId">): TracedEvent => ({
  ...cause,
  id: null,
  channel: "",
  summary: null,
  run: null,
});

const sendNames: Readonly<Record<string, string>> = {
  "$send.http": "HTTP request of $.send",
  "$send.email": "Email of $.send",
  "$send.s3": "Upload of $.send",
};

const statuses: Readonly<Record<TracedAttempt["outcome"], SpanStatus>> = { delivered: "succeeded", retry: "waiting", dead: "failed" };

export interface DeliverySpans {
  readonly span: Span;
  /** Its attempts, if there are several. */
  readonly children: readonly Span[];
}

/** @param name of the webhook @param attempts of one delivery */
export function deliverySpans(attempts: readonly [TracedAttempt, ...TracedAttempt[]], name: string): DeliverySpans {
  const ordered = attempts.toSorted((a, b) => a.attempt - b.attempt);
  const [first, last] = [ordered.at(0) ?? attempts[0], ordered.at(-1) ?? attempts[0]];
  const { delivery, listener: object, source, event } = first;
  const about = { object, delivery, ...(isEventId(event) ? { event } : { run: event }) };
  const status = statuses[last.outcome];
  const endedAt = status === "waiting" ? null : last.at + last.durationMs;
  const children = attempts.length === 1 ? [] : ordered.map((attempt) => attemptSpan(attempt, about));
  return {
    span: {
      id: delivery,
      kind: "delivery",
      name: sendNames[first.channel] ?? (source === object ? `Test of ${name}` : name),
      detail: children.length === 0 ? resultOf(last) : `${attempts.length} attempts, the last: ${resultOf(last)}`,
      status,
      startedAt: first.at,
      endedAt,
      about: { ...about, attempt: last.attempt },
    },
    children,
  };
}

const attemptSpan = (attempt: TracedAttempt, about: NonNullable<Span["about"]>): Span => ({
  id: `${attempt.delivery}/${attempt.attempt}`,
  kind: "attempt",
  name: `Attempt ${attempt.attempt}`,
  detail: resultOf(attempt),
  status: attempt.outcome === "delivered" ? "succeeded" : "failed",
  startedAt: attempt.at,
  endedAt: attempt.at + attempt.durationMs,
  about: { ...about, attempt: attempt.attempt },
});

const maxError = 200;

const resultOf = ({ status, error, outcome }: TracedAttempt): string =>
  error?.slice(0, maxError) ?? (status === null ? outcome : `status ${status}`);

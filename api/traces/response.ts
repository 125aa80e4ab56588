import { kindOfId } from "../../domain/ids.ts";
import { eventReference } from "../../domain/trace/event-spans.ts";
import type { SpanSubject, Trace, TreeSpan } from "../../domain/trace/span.ts";
import type { Answered } from "../http/response/answered.ts";
import type { traceSchema } from "./schemas.ts";

export const traceResponse = ({ spans, focus, isCut, traceId }: Trace): Answered<typeof traceSchema> => ({
  focus_id: focus,
  spans: spans.map(spanResponse),
  cut: isCut,
  otel_trace_id: traceId,
});

function spanResponse(span: TreeSpan): Answered<typeof traceSchema>["spans"][number] {
  const { about = {}, detail, status, cpuMs } = span;
  return {
    id: span.id,
    parent_id: span.parent,
    depth: span.depth,
    kind: span.kind,
    name: span.name,
    ...given({ detail, status, cpu_ms: cpuMs }),
    started_at_ms: span.startedAt,
    ended_at_ms: span.endedAt,
    ...objectOf(about),
    ...given({ run_id: about.run, event_id: about.event, delivery_id: about.delivery, step_id: about.step, attempt: about.attempt }),
    ...given({ deployment_id: about.deployment, repeats: about.repeats, trace_id: referenceOf(span, about) }),
    ...(span.isHidden ? { hidden: true } : {}),
    ...(span.isGone ? { gone: true } : {}),
    ...(span.hasMore ? { has_more: true } : {}),
  };
}

type Given<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

const given = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>; // Only undefined ones are left out.

function objectOf({ object = "" }: SpanSubject) {
  const kind = kindOfId(object);
  return kind === "source" || kind === "workflow" || kind === "webhook" ? { [`${kind}_id` as const]: object } : {};
}

function referenceOf({ kind }: TreeSpan, { object, run, event, delivery }: SpanSubject): string | undefined {
  if (kind === "run") return run;
  if (kind === "event") return object === undefined || event === undefined ? undefined : eventReference(object, event);
  return kind === "delivery" ? delivery : undefined;
}

import type { Span } from "../../../client/generated/operations.ts";
import { DeliveryView } from "./delivery-view.tsx";
import { EventView } from "./event-view.tsx";
import { Hint, SpanFacts } from "./parts.tsx";
import { SourceRun } from "./source-run.tsx";
import { text } from "./strings.ts";
import { WorkflowRun } from "./workflow-run.tsx";

/** What a span shows, by its kind. */
export function Inspector({ span, spans }: { readonly span: Span; readonly spans: readonly Span[] }) {
  const name = span.name ?? text.hidden;
  return (
    <section
      aria-label={text.inspector}
      className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-2 min-[20rem]:p-4"
    >
      <h2 className="text-base font-semibold">
        <bdi>{name}</bdi>
      </h2>
      {/* A span has its own views and their state. */}
      <View key={span.id} span={span} spans={spans} />
    </section>
  );
}

function View({ span, spans }: { readonly span: Span; readonly spans: readonly Span[] }) {
  if (span.hidden) return <Hint>{text.hiddenHint}</Hint>;
  if (span.kind === "event") return <EventView span={span} />;
  if (span.delivery_id !== undefined) return <DeliveryView span={span} event={eventAbove(span, spans)} />;
  if (span.run_id === undefined) return <SpanFacts span={span} />;
  if (span.workflow_id !== undefined) return span.kind === "queue" ? <SpanFacts span={span} /> : <WorkflowRun span={span} />;
  const run = span.kind === "run" ? span : spans.find(({ kind, run_id: id }) => kind === "run" && id === span.run_id);
  return run === undefined ? <SpanFacts span={span} /> : <SourceRun span={span} run={run} spans={spans} />;
}

function eventAbove(span: Span, spans: readonly Span[]): Span | undefined {
  const above = spans.find(({ id }) => id === span.parent_id);
  return above === undefined || above.kind === "event" ? above : eventAbove(above, spans);
}

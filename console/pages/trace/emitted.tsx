import type { Span } from "../../../client/generated/operations.ts";
import { TraceLink } from "../../parts/trace-link.tsx";
import { Hint } from "./parts.tsx";
import { EventValue } from "./event-view.tsx";
import { text } from "./strings.ts";

const maxEvents = 20;

/** The events of a run, with what dedupe has decided. */
export function Emitted({
  emitter,
  ids,
  duplicates = 0,
}: {
  readonly emitter: string;
  readonly ids: readonly string[];
  readonly duplicates?: number | undefined;
}) {
  return (
    <>
      {duplicates > 0 && <Hint>{text.duplicates(duplicates)}</Hint>}
      {ids.length === 0 && <Hint>{text.noEvents}</Hint>}
      {ids.slice(0, maxEvents).map((id) => (
        <details key={id} open={ids.length === 1} className="rounded-md border border-line p-2">
          <summary className="text-xs">
            <span className="font-mono">{id}</span> {text.emitted}
          </summary>
          <p className="text-xs">
            <TraceLink id={`${emitter}.${id}`}>{text.title}</TraceLink>
          </p>
          <EventValue emitter={emitter} id={id} />
        </details>
      ))}
    </>
  );
}

/** The span of the event that has started this run, if it is stored. */
export const causeOf = (span: Span | undefined, spans: readonly Span[]): Span | undefined => {
  const parent = spans.find(({ id }) => id === span?.parent_id);
  return parent?.kind === "event" && parent.event_id !== undefined ? parent : undefined;
};

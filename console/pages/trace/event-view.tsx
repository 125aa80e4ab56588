import { useQuery } from "@tanstack/react-query";
import type { Span } from "../../../client/generated/operations.ts";
import { readEvent } from "../../api/read-event.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Tree } from "../../parts/tree.tsx";
import { Hint, SpanFacts } from "./parts.tsx";
import { text } from "./strings.ts";

/** The whole event, as listeners receive it; null: it is not stored. */
export const useEvent = (emitter: string, id: string) =>
  useQuery({
    queryKey: ["event", emitter, id],
    queryFn: ({ signal }) => readEvent(emitter, id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    select: (event) => (event === null ? null : { event: emitter.startsWith("p_") ? payloadOf(event.event) : event.event }),
  });

/** Lists of a workflow's events have the payload as `raw_event`. */
const payloadOf = (event: unknown): unknown =>
  typeof event === "object" && event !== null && "raw_event" in event ? event.raw_event : event;

export function EventValue({ emitter, id }: { readonly emitter: string; readonly id: string }) {
  const read = useEvent(emitter, id);
  return (
    <Loaded isLoading={read.isPending} error={read.error} retry={() => void read.refetch()}>
      {read.data === null && <Hint>{text.eventGone}</Hint>}
      {read.data !== null && read.data !== undefined && <Tree value={read.data.event} />}
    </Loaded>
  );
}

/** An emitted event, or what has started the first run. */
export function EventView({ span }: { readonly span: Span }) {
  const { source_id: source, workflow_id: workflow, event_id: event } = span;
  const emitter = source ?? workflow;
  return (
    <>
      <SpanFacts
        span={span}
        more={emitter === undefined ? [] : [[text.channel, span.name === text.kinds.event ? text.defaultChannel : span.name]]}
      />
      {span.gone && <Hint>{text.goneHint}</Hint>}
      {emitter !== undefined && event !== undefined && <EventValue emitter={emitter} id={event} />}
    </>
  );
}

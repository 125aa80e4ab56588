import { useState } from "react";
import type { Event, Workflow } from "../../../client/generated/operations.ts";
import { useFollow } from "../../api/follow.ts";
import { useList } from "../../api/queries.ts";
import { TraceLink } from "../../parts/trace-link.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { clip } from "../../parts/format.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { Tree } from "../../parts/tree.tsx";
import { text } from "./strings.ts";

/** One that has just arrived has no id. */
type ShownEvent = Pick<Event, "event" | "metadata"> & Partial<Pick<Event, "id">>;
const maxLength = 300;

const parseEvent = (data: string): ShownEvent => JSON.parse(data) as ShownEvent; // By the form of the stream.

/** What the workflow emits: the stored events, and above them those that arrive. */
export function EventsTab({ workflow }: { readonly workflow: Workflow }) {
  const [shown, setShown] = useState<ShownEvent>();
  const stored = useList("listWorkflowEvents", { path: { workflow_id: workflow.id } });
  const tail = useFollow("streamWorkflowEvents", { path: { workflow_id: workflow.id } }, { parse: parseEvent, isPaused: false });
  const live = new Set(tail.items.map(({ metadata }) => metadata.emit_id));
  const items: readonly ShownEvent[] = [...tail.items, ...stored.items.filter(({ metadata }) => !live.has(metadata.emit_id))];
  const columns: readonly Column<ShownEvent>[] = [
    { title: text.started, parts: 2, cell: ({ metadata }) => <Time ms={metadata.ts} /> },
    {
      title: text.event,
      parts: 6,
      cell: (event) => (
        <button type="button" className="max-w-full truncate text-left text-accent hover:underline" onClick={() => setShown(event)}>
          <bdi>{event.metadata.summary ?? clip(JSON.stringify(event.event) ?? "", maxLength)}</bdi>
        </button>
      ),
    },
  ];
  return (
    <>
      <span role="status">
        <State state={tail.connection} label={text.live[tail.connection]} />
      </span>
      <DataTable
        label={text.tabs.events}
        columns={columns}
        list={{ ...stored, items }}
        keyOf={({ metadata }) => metadata.emit_id}
        onOpen={setShown}
        empty={
          <EmptyState title={text.noEvents}>
            <p className="text-sm text-muted">{text.noEventsHint}</p>
          </EmptyState>
        }
      />
      {shown !== undefined && (
        <Dialog title={text.event} isOpen onClose={() => setShown(undefined)} isWide>
          {shown.id !== undefined && (
            <TraceLink id={`${workflow.id}.${shown.id}`} className="text-sm">
              {text.openTrace}
            </TraceLink>
          )}
          <Tree value={shown.event} />
        </Dialog>
      )}
    </>
  );
}

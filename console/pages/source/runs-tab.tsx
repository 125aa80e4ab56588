import type { Run, Source } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { formatDuration } from "../../parts/format.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { ToTrace, TraceLink, useOpenTrace } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

export function RunsTab({ source }: { readonly source: Source }) {
  const [{ failed, run }, setSearch] = useSearchParams();
  const onlyFailed = failed === "true";
  const query = onlyFailed ? { failed: true } : {};
  const list = useList("listRuns", { path: { id: source.id }, query }, { everyMs: refreshMs });
  const open = useOpenTrace();
  if (run !== undefined) return <ToTrace id={run} />;
  const columns: readonly Column<Run>[] = [
    {
      title: text.run,
      parts: 2,
      cell: ({ id }) => <TraceLink id={id} className="font-mono text-xs" />,
    },
    { title: text.status, parts: 2, cell: ({ status }) => <State state={status} /> },
    {
      title: text.trigger,
      parts: 2,
      isSecondary: true,
      cell: ({ trigger, hook }) => (hook === undefined ? trigger : `${trigger}: ${hook}`),
    },
    { title: text.started, parts: 2, cell: ({ started_at_ms: ms }) => <Time ms={ms} /> },
    { title: text.duration, isSecondary: true, cell: ({ duration_ms: ms }) => formatDuration(ms) },
    { title: text.events, isSecondary: true, cell: ({ event_ids: ids }) => ids.length },
  ];
  return (
    <>
      <Checkbox
        label={text.onlyFailed}
        checked={onlyFailed}
        onChange={(event) => setSearch({ failed: event.target.checked ? "true" : undefined })}
      />
      <DataTable
        label={text.tabs.runs}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        empty={
          <EmptyState title={onlyFailed ? text.noErrors : text.noRuns}>
            <p className="text-sm text-muted">{text.noRunsHint}</p>
          </EmptyState>
        }
      />
    </>
  );
}

import type { Source, Tick } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { formatDuration } from "../../parts/format.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;

/** What became of each tick of the source's timers. */
export function TicksTab({ source }: { readonly source: Source }) {
  const [, setSearch] = useSearchParams();
  const list = useList("listTicks", { path: { id: source.id } }, { everyMs: refreshMs });
  const columns: readonly Column<Tick>[] = [
    { title: text.due, parts: 2, cell: ({ due_at_ms: ms }) => <Time ms={ms} /> },
    { title: text.status, parts: 2, cell: ({ state }) => <State state={state} /> },
    { title: text.late, isSecondary: true, cell: ({ late_ms: ms }) => (ms === null ? text.none : formatDuration(ms)) },
    { title: text.reason, parts: 3, isSecondary: true, cell: ({ reason }) => (reason === null ? "" : text.reasons[reason]) },
    {
      title: text.run,
      parts: 2,
      cell: ({ run_id: run }) =>
        run === null ? (
          text.none
        ) : (
          <button type="button" className="font-mono text-xs text-accent hover:underline" onClick={() => setSearch({ tab: "runs", run })}>
            {run}
          </button>
        ),
    },
  ];
  return (
    <DataTable
      label={text.tabs.ticks}
      columns={columns}
      list={list}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title={text.noTicks}>
          <p className="text-sm text-muted">{text.noTicksHint}</p>
        </EmptyState>
      }
    />
  );
}

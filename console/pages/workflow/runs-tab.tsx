import type { Workflow, WorkflowRun } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { inputLook } from "../../parts/field.tsx";
import { formatDuration } from "../../parts/format.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { ToTrace, TraceLink, useOpenTrace } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

const refreshMs = 5_000;
type Status = WorkflowRun["status"];
const statuses = Object.keys(text.statuses) as readonly Status[];

export function RunsTab({ workflow }: { readonly workflow: Workflow }) {
  const [{ status = "", run }, setSearch] = useSearchParams();
  const chosen = statuses.find((each) => each === status);
  const query = chosen === undefined ? {} : { status: chosen };
  const list = useList("listWorkflowRuns", { path: { workflow_id: workflow.id }, query }, { everyMs: refreshMs });
  const open = useOpenTrace();
  if (run !== undefined) return <ToTrace id={run} />;
  const columns: readonly Column<WorkflowRun>[] = [
    {
      title: text.run,
      parts: 2,
      cell: ({ id }) => <TraceLink id={id} className="font-mono text-xs" />,
    },
    { title: text.status, parts: 2, cell: ({ status: state }) => <State state={state} label={text.statuses[state]} /> },
    { title: text.startedBy, parts: 2, isSecondary: true, cell: ({ trigger }) => trigger },
    { title: text.started, parts: 2, cell: ({ started_at_ms: ms }) => <Time ms={ms} /> },
    { title: text.duration, isSecondary: true, cell: ({ duration_ms: ms }) => (ms === null ? "" : formatDuration(ms)) },
    { title: text.progress, isSecondary: true, cell: ({ steps_done: done, step_count: count }) => `${done}/${count}` },
  ];
  return (
    <>
      <select
        aria-label={text.status}
        className={`${inputLook} max-w-48`}
        value={status}
        onChange={(event) => setSearch({ status: event.target.value })}
      >
        <option value="">{text.anyStatus}</option>
        {statuses.map((each) => (
          <option key={each} value={each}>
            {text.statuses[each]}
          </option>
        ))}
      </select>
      <DataTable
        label={text.tabs.runs}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        empty={
          <EmptyState title={chosen === undefined ? text.noRuns : text.noMatch}>
            <p className="text-sm text-muted">{text.noRunsHint}</p>
          </EmptyState>
        }
      />
    </>
  );
}

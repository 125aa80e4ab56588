import { useMemo } from "react";
import type { Workflow, WorkflowRun } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../app/search.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

/** Groups failed runs by step, and name and message of the error. Numbers in messages do not matter. */
const groupErrors = (runs: readonly WorkflowRun[]): readonly (readonly WorkflowRun[])[] => [
  ...Map.groupBy(runs, ({ error, failed_step_id: step }) => `${step} ${error?.name}: ${error?.message.replaceAll(/\d+/g, "0")}`).values(),
];

export function ErrorsTab({ workflow }: { readonly workflow: Workflow }) {
  const [, setSearch] = useSearchParams();
  const list = useList("listWorkflowRuns", { path: { workflow_id: workflow.id }, query: { status: "failed" } });
  const groups = useMemo(() => groupErrors(list.items), [list.items]);
  return (
    <Loaded isLoading={list.isLoading} error={list.error} retry={list.reload}>
      {groups.length === 0 && (
        <EmptyState title={text.noErrors}>
          <p className="text-sm text-muted">{text.noErrorsHint}</p>
        </EmptyState>
      )}
      <ul className="flex flex-col gap-3">
        {groups.map(([newest, ...others]) => (
          <li key={newest?.id} className="flex min-w-0 flex-wrap items-center gap-3 rounded-lg border border-line bg-surface p-4 text-sm">
            <p className="min-w-0 flex-1 basis-60">
              <span className="font-medium text-bad">{newest?.error?.name}</span> <bdi>{newest?.error?.message}</bdi>
            </p>
            <span className="text-muted">
              {text.occurrences}: {formatCount(others.length + 1)}
            </span>
            <span className="text-muted">
              {text.lastSeen} <Time ms={newest?.started_at_ms ?? 0} />
            </span>
            <Button onClick={() => setSearch({ tab: "runs", run: newest?.id })}>{text.run}</Button>
          </li>
        ))}
      </ul>
    </Loaded>
  );
}

import { useMemo } from "react";
import type { Run, Source } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../app/search.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

interface ErrorGroup {
  readonly name: string;
  readonly message: string;
  readonly runs: readonly Run[];
}

/** Groups failed runs by the name and message of their error, those with the newest run first. Numbers in messages do not matter. */
export function groupErrors(runs: readonly Run[]): readonly ErrorGroup[] {
  const groups = Map.groupBy(runs, ({ error }) => `${error?.name}: ${error?.message.replaceAll(/\d+/g, "0")}`);
  return [...groups.values()].map((members) => ({
    name: members[0]?.error?.name ?? "",
    message: members[0]?.error?.message ?? "",
    runs: members,
  }));
}

export function ErrorsTab({ source }: { readonly source: Source }) {
  const [, setSearch] = useSearchParams();
  const list = useList("listRuns", { path: { id: source.id }, query: { failed: true } });
  const groups = useMemo(() => groupErrors(list.items), [list.items]);
  return (
    <Loaded isLoading={list.isLoading} error={list.error} retry={list.reload}>
      {groups.length === 0 && (
        <EmptyState title={text.noErrors}>
          <p className="text-sm text-muted">{text.noErrorsHint}</p>
        </EmptyState>
      )}
      <ul className="flex flex-col gap-3">
        {groups.map(({ name, message, runs }) => (
          <li key={`${name} ${message}`} className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4">
            <p className="min-w-0 text-sm">
              <span className="font-medium text-bad">{name}</span> <bdi>{message}</bdi>
            </p>
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
              <span>
                {text.occurrences}: {formatCount(runs.length)}
              </span>
              <span>
                {text.lastSeen} <Time ms={runs[0]?.started_at_ms ?? 0} />
              </span>
              <span>
                {text.firstSeen} <Time ms={runs.at(-1)?.started_at_ms ?? 0} />
              </span>
              <Button className="ml-auto" onClick={() => setSearch({ tab: "runs", run: runs[0]?.id })}>
                {text.run}
              </Button>
            </div>
            {runs[0]?.error?.stack !== undefined && (
              <details className="text-xs">
                <summary>{text.stack}</summary>
                <pre className="overflow-x-auto rounded-md bg-page p-2" tabIndex={0}>
                  {runs[0].error.stack}
                </pre>
              </details>
            )}
          </li>
        ))}
      </ul>
      {list.hasMore && <Button onClick={list.readMore}>{text.onlyFailed}</Button>}
    </Loaded>
  );
}

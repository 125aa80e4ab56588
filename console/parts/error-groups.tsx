import { useMemo } from "react";
import type { Thrown } from "../../client/generated/operations.ts";
import type { List } from "../api/queries.ts";
import { Button } from "./button.tsx";
import { formatCount } from "./format.ts";
import { EmptyState, Loaded } from "./notices.tsx";
import { text as shared } from "./strings.ts";
import { Time } from "./time.tsx";

const text = { runs: "Runs", lastSeen: "Last seen", firstSeen: "First seen", stack: "Stack", show: "Show the last run" } as const;

interface FailedRun {
  readonly id: string;
  readonly started_at_ms: number;
  readonly error: Thrown | null;
}

interface ErrorGroupsProps {
  /** Failed runs, newest first. */
  readonly list: List<FailedRun>;
  readonly empty: string;
  readonly emptyHint: string;
  readonly onShow: (run: string) => void;
}

/** Numbers in messages do not distinguish errors. */
const keyOf = ({ error }: FailedRun): string => `${error?.name}: ${error?.message.replaceAll(/\d+/g, "0")}`;

/** Failed runs, grouped by the name and message of their error; the group with the newest run comes first. */
export function ErrorGroups({ list, empty, emptyHint, onShow }: ErrorGroupsProps) {
  const groups = useMemo(() => [...Map.groupBy(list.items, keyOf)], [list.items]);
  return (
    <Loaded isLoading={list.isLoading} error={list.error} retry={list.reload}>
      {groups.length === 0 && (
        <EmptyState title={empty}>
          <p className="text-sm text-muted">{emptyHint}</p>
        </EmptyState>
      )}
      <ul className="flex flex-col gap-3">
        {groups.map(([key, runs]) => (
          <ErrorGroup key={key} runs={runs} onShow={onShow} />
        ))}
      </ul>
      {list.hasMore && (
        <Button className="self-start" onClick={list.readMore}>
          {shared.more}
        </Button>
      )}
    </Loaded>
  );
}

function ErrorGroup({ runs, onShow }: { readonly runs: readonly FailedRun[]; readonly onShow: (run: string) => void }) {
  const [newest] = runs;
  const oldest = runs.at(-1);
  if (newest === undefined || oldest === undefined) return null;
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-1 text-sm min-[20rem]:p-4">
      <p className="min-w-0">
        <span className="font-medium text-bad">{newest.error?.name}</span> <bdi>{newest.error?.message}</bdi>
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-muted">
        <span>
          {text.runs}: {formatCount(runs.length)}
        </span>
        <span>
          {text.lastSeen} <Time ms={newest.started_at_ms} />
        </span>
        <span>
          {text.firstSeen} <Time ms={oldest.started_at_ms} />
        </span>
        <Button className="ml-auto" onClick={() => onShow(newest.id)}>
          {text.show}
        </Button>
      </div>
      {newest.error?.stack !== undefined && (
        <details className="text-xs">
          <summary>{text.stack}</summary>
          <pre className="overflow-x-auto rounded-md bg-page p-2" tabIndex={0}>
            {newest.error.stack}
          </pre>
        </details>
      )}
    </li>
  );
}

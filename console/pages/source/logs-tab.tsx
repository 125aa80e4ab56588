import { useMemo, useState } from "react";
import type { LogLine, Source } from "../../../client/generated/operations.ts";
import { useFollow } from "../../api/follow.ts";
import { useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { Button } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { logText } from "../../parts/log-lines.tsx";
import { EmptyState } from "../../parts/notices.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

type ShownLine = Omit<LogLine, "run_id"> & { readonly key: string };

/** A log event of the stream: its `event` is the record. */
function parseLine(data: string): ShownLine | undefined {
  const { event, metadata } = JSON.parse(data) as { readonly event: ShownLine; readonly metadata: { readonly emit_id: string } }; // By the stream.
  return { ...event, key: metadata.emit_id };
}

/** The last log lines, and above them those that are written while the page is open. */
export function LogsTab({ source }: { readonly source: Source }) {
  const [{ q = "" }, setSearch] = useSearchParams();
  const [isPaused, setIsPaused] = useState(false);
  const stored = useRead("listLogs", { path: { id: source.id } });
  const tail = useFollow("streamLogs", { path: { id: source.id } }, { parse: parseLine, isPaused });
  const items = useMemo(() => {
    const newest = tail.items.at(-1)?.ts ?? Number.POSITIVE_INFINITY;
    const before = (stored.data?.data ?? [])
      .map((line, index): ShownLine => ({ ...line, key: `${line.ts}-${index}` }))
      .filter(({ ts }) => ts < newest);
    const wanted = q.toLowerCase();
    return [...tail.items, ...before].filter((line) => wanted === "" || logText(line).toLowerCase().includes(wanted));
  }, [tail.items, stored.data, q]);
  const columns: readonly Column<ShownLine>[] = [
    { title: text.time, parts: 2, cell: ({ ts }) => <Time ms={ts} /> },
    { title: text.level, parts: 2, isSecondary: true, cell: ({ k }) => <span className={k.includes("error") ? "text-bad" : ""}>{k}</span> },
    {
      title: text.message,
      parts: 8,
      cell: (line) => <bdi className="block font-mono text-xs whitespace-pre-wrap">{logText(line)}</bdi>,
    },
  ];
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchField label={text.filter} value={q} onChange={(value) => setSearch({ q: value }, { replaces: true })} />
        <span role="status">
          <State state={tail.connection} label={text.connection[tail.connection]} />
        </span>
        <Button onClick={() => setIsPaused(!isPaused)}>{isPaused ? text.continueTail(tail.waiting) : text.pauseTail}</Button>
      </div>
      <DataTable
        label={text.tabs.logs}
        columns={columns}
        list={{
          items,
          error: stored.error,
          isLoading: stored.isPending,
          hasMore: false,
          readMore: () => undefined,
          reload: () => void stored.refetch(),
        }}
        keyOf={({ key }) => key}
        empty={
          <EmptyState title={q === "" ? text.noLogLines : text.noMatch}>
            <p className="text-sm text-muted">{text.noLogLinesHint}</p>
          </EmptyState>
        }
      />
    </>
  );
}

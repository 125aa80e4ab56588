import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import type { Span } from "../../../client/generated/operations.ts";
import { formatDuration } from "../../parts/format.ts";
import { hasChildren, moveOf, shownSpans } from "./tree-keys.ts";
import { text } from "./strings.ts";

interface WaterfallProps {
  readonly spans: readonly Span[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

const rowPixels = 34;

/** The spans as a tree with bars in time. Only the visible rows exist; the arrow keys move in it. */
export function Waterfall({ spans, selected, onSelect }: WaterfallProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const shown = shownSpans(spans, closed);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels,
    overscan: 10,
    getItemKey: (index) => shown[index]?.id ?? index,
  });
  const at = shown.findIndex(({ id }) => id === selected);
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at);
    // Only when another span is selected: otherwise each refresh would scroll back.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [selected]);
  const toggle = (id: string): void =>
    setClosed((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id])));
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moveOf(event.key, { spans, closed, selected });
    if (move === undefined) return;
    event.preventDefault();
    if (move.kind === "select") onSelect(move.id);
    else toggle(move.id);
  };
  const range = rangeOf(spans);
  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label={text.waterfall}
      aria-rowcount={shown.length}
      aria-activedescendant={at >= 0 ? rowId(at) : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="max-h-[70dvh] min-h-24 overflow-y-auto rounded-lg border border-line bg-surface"
    >
      <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => {
          const span = shown[index];
          if (span === undefined) return null;
          const isParent = hasChildren(spans, spans.indexOf(span));
          return (
            <div
              key={key as string}
              id={rowId(index)}
              role="row"
              aria-level={span.depth + 1}
              aria-rowindex={index + 1}
              aria-selected={span.id === selected}
              aria-expanded={isParent ? !closed.has(span.id) : undefined}
              onClick={() => onSelect(span.id)}
              className={`absolute inset-x-0 grid cursor-pointer items-center gap-2 border-b border-line px-1 text-sm min-[20rem]:grid-cols-[minmax(0,1fr)_4.5rem] min-[20rem]:px-2 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_4.5rem] ${span.id === selected ? "bg-accent-soft" : ""}`}
              style={{ top: start, height: rowPixels }}
            >
              <SpanName span={span} isOpen={!closed.has(span.id)} isParent={isParent} onToggle={() => toggle(span.id)} />
              <Bar span={span} range={range} />
              <div role="gridcell" className="truncate text-right text-xs text-muted max-[20rem]:hidden">
                {lengthOf(span)}
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
}

const rowId = (index: number): string => `span-${index}`;

interface NameProps {
  readonly span: Span;
  readonly isParent: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function SpanName({ span, isParent, isOpen, onToggle }: NameProps) {
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <div role="gridcell" className="flex min-w-0 items-center gap-1" style={{ paddingLeft: `min(${span.depth * 0.75}rem, 40%)` }}>
      {/* The arrow keys of the row open and close it. */}
      <span
        aria-hidden
        className="inline-flex size-4 shrink-0"
        onClick={(event) => {
          event.stopPropagation();
          if (isParent) onToggle();
        }}
      >
        {isParent && <Icon className="size-4 text-muted" />}
      </span>
      <span className="shrink-0 text-xs text-muted max-[20rem]:hidden">{text.kinds[span.kind]}</span>
      <bdi className={`min-w-0 truncate ${span.status === "failed" ? "text-bad" : ""}`}>{span.name ?? text.hidden}</bdi>
      {span.status !== undefined && span.status !== "succeeded" && (
        <span className={`shrink-0 text-xs ${span.status === "failed" ? "text-bad" : "text-warn"}`}>{text.statuses[span.status]}</span>
      )}
      {span.has_more && (
        <span className="shrink-0 text-xs text-warn" title={text.more}>
          <span aria-hidden>+</span>
          <span className="sr-only">{text.more}</span>
        </span>
      )}
    </div>
  );
}

interface Range {
  readonly from: number;
  readonly until: number;
}

/** What has not ended reaches to the end of the others, or to now. */
function rangeOf(spans: readonly Span[]): Range {
  const from = Math.min(...spans.map(({ started_at_ms: at }) => at ?? Number.POSITIVE_INFINITY));
  const ends = spans.map(({ started_at_ms: at, ended_at_ms: end }) => Math.max(at ?? from, end ?? 0));
  return { from, until: Math.max(from + 1, ...ends) };
}

const looks: Readonly<Record<string, string>> = { failed: "bg-bad", waiting: "bg-warn", running: "bg-warn", canceled: "bg-muted" };

function Bar({ span, range: { from, until } }: { readonly span: Span; readonly range: Range }) {
  const { started_at_ms: at, ended_at_ms: end, kind, status = "", hidden } = span;
  if (at === null || hidden) return <div role="gridcell" className="max-sm:hidden" />;
  const share = (ms: number): number => (100 * (ms - from)) / (until - from);
  const left = Math.min(99.5, share(at));
  const width = Math.max(0.5, Math.min(100 - left, share(end ?? until) - left));
  const look = looks[status] ?? (kind === "queue" || kind === "start" || kind === "wait" ? "bg-muted" : "bg-accent");
  return (
    <div role="gridcell" className="relative h-2.5 rounded bg-page max-sm:hidden">
      <div aria-hidden className={`absolute inset-y-0 rounded ${look}`} style={{ left: `${left}%`, width: `${width}%` }} />
    </div>
  );
}

function lengthOf({ started_at_ms: at, ended_at_ms: end, kind, hidden }: Span): string {
  if (at === null || kind === "event" || hidden) return "";
  return end === null ? text.open : formatDuration(end - at);
}

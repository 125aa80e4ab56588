import type { Span } from "../../client/generated/operations.ts";
import { formatTable, type Column } from "./table.ts";
import { dateTime } from "./time.ts";

/** A line for each span, with a `>` before the one that was asked for. */
export function traceLines(
  spans: readonly Span[],
  focus: string,
  { width, isWide }: { readonly width: number | undefined; readonly isWide: boolean },
): readonly string[] {
  const first = Math.min(...spans.flatMap(({ started_at_ms: at }) => at ?? []));
  const columns: readonly Column<Row>[] = [
    { header: "", value: ({ span }) => (span.id === focus ? ">" : "") },
    { header: "SPAN", value: ({ span, branch }) => `${branch}${nameOf(span)}${span.has_more ? " +" : ""}` },
    { header: "STATUS", value: ({ span }) => span.status ?? (span.gone ? "gone" : ""), isWhole: true },
    { header: "AT", value: ({ span: { started_at_ms: at } }) => (at === null ? "-" : `+${durationOf(at - first)}`), isWhole: true },
    { header: "TOOK", value: ({ span }) => lengthOf(span), isWhole: true },
    { header: "ID", value: ({ span }) => span.trace_id ?? "", isWhole: true },
    { header: "DETAIL", value: ({ span }) => (span.detail === span.trace_id ? "" : (span.detail ?? "")) },
  ];
  const shown = columns.filter(({ header }) => isWide || header !== "DETAIL");
  const start = Number.isFinite(first) ? [`began ${dateTime(first)}`] : [];
  return [...start, ...formatTable(shown, withBranches(spans), { width })];
}

interface Row {
  readonly span: Span;
  /** What leads to it from its parent. */
  readonly branch: string;
}

/** Spans are depth first: one is the last child of its parent if none of its depth follows before a higher one. */
function withBranches(spans: readonly Span[]): readonly Row[] {
  const follows: boolean[] = [];
  const rows = spans.toReversed().map((span): Row => {
    const { depth } = span;
    const lines = Array.from({ length: Math.max(0, depth - 1) }, (_, level) => (follows[level + 1] === true ? "│ " : "  "));
    const own = depth === 0 ? "" : follows[depth] === true ? "├ " : "└ ";
    follows.length = depth + 1;
    follows[depth] = true;
    return { span, branch: `${lines.join("")}${own}` };
  });
  return rows.toReversed();
}

function nameOf({ kind, name, hidden }: Span): string {
  if (hidden || name === null) return `${kind} of another owner`;
  return kind === "run" || kind === "step" || kind === "delivery" ? `${kind} ${name}` : name;
}

function lengthOf({ started_at_ms: from, ended_at_ms: until, kind, hidden }: Span): string {
  if (hidden || from === null || kind === "event") return "-";
  return until === null ? "…" : durationOf(until - from);
}

function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = seconds / 60;
  if (minutes < 60) return `${minutes.toFixed(1)}m`;
  const hours = minutes / 60;
  return hours < 48 ? `${hours.toFixed(1)}h` : `${(hours / 24).toFixed(1)}d`;
}

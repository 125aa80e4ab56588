import stringWidth from "fast-string-width";
import { printable } from "./printable.ts";

export interface Column<T> {
  readonly header: string;
  readonly value: (item: T) => string;
  /** Shown only with `-o wide`. */
  readonly isWide?: boolean;
  /** Never truncated: an id that people copy. */
  readonly isWhole?: boolean;
}

const gap = "   ";
const minColumnWidth = 8;

/** Rows under headers, as kubectl prints them. With a width, the widest columns are truncated until a row fits. */
export function formatTable<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  { width, hasHeader = true }: TableOptions = {},
): string[] {
  const rows = items.map((item) => columns.map(({ value }) => oneLine(value(item))));
  const all = hasHeader ? [columns.map(({ header }) => header), ...rows] : rows;
  const widths = columns.map((_column, index) => Math.max(0, ...all.map((row) => stringWidth(row[index] ?? ""))));
  if (width !== undefined) fit(widths, columns, width);
  return all.map((row) =>
    row
      .map((cell, index) => padded(truncated(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

export interface TableOptions {
  readonly width?: number | undefined;
  readonly hasHeader?: boolean;
}

/** Takes characters from the widest column that may be truncated, until the sum fits or all have the minimum. */
function fit<T>(widths: number[], columns: readonly Column<T>[], width: number): void {
  const total = (): number => widths.reduce((sum, each) => sum + each, 0) + gap.length * (widths.length - 1);
  while (total() > width) {
    const candidates = widths.map((each, index) => (columns[index]?.isWhole === true ? 0 : each));
    const widest = Math.max(...candidates);
    if (widest <= minColumnWidth) return;
    widths[candidates.indexOf(widest)] = widest - 1;
  }
}

/** At most this many columns of a terminal, with `…` in place of the rest. */
export function truncated(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - stringWidth(text)));
const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, " "));

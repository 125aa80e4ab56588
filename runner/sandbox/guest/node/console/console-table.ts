import { inspect } from "../inspect/inspect.ts";

type Row = readonly [index: string, cells: ReadonlyMap<string, string>, value: string | undefined];

const indexHeading = "(index)";
const valuesHeading = "Values";
/** The log truncates longer lines. */
const maxRows = 1_000;

/** `console.table` as Node draws it; undefined for other values, which are shown as by `console.log`. */
export function drawTable(data: unknown, columns: unknown): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { rows, heading } = rowsOf(data);
  const named = Array.isArray(columns) ? columns.map(String) : [...new Set(rows.flatMap(([, cells]) => [...cells.keys()]))];
  const hasValues = rows.some(([, , value]) => value !== undefined);
  const header = [heading, ...named, ...(hasValues ? [valuesHeading] : [])];
  const lines = rows.map(([index, cells, value]) => [
    index,
    ...named.map((name) => cells.get(name) ?? ""),
    ...(hasValues ? [value ?? ""] : []),
  ]);
  return draw(header, lines);
}

function rowsOf(data: object): { readonly rows: readonly Row[]; readonly heading: string } {
  if (data instanceof Map) {
    const rows = [...data].slice(0, maxRows).map(([key, value], index): Row => [
      String(index),
      new Map([
        ["Key", cellOf(key)],
        ["Values", cellOf(value)],
      ]),
      undefined,
    ]);
    return { rows, heading: "(iteration index)" };
  }
  if (data instanceof Set) {
    const rows = [...data].slice(0, maxRows).map((value, index) => rowOf(String(index), value));
    return { rows, heading: "(iteration index)" };
  }
  const rows = Object.entries(data).slice(0, maxRows);
  return { rows: rows.map(([name, value]) => rowOf(name, value)), heading: indexHeading };
}

function rowOf(index: string, value: unknown): Row {
  if (typeof value !== "object" || value === null) return [index, new Map(), cellOf(value)];
  return [index, new Map(Object.entries(value).map(([name, cell]) => [name, cellOf(cell)])), undefined];
}

function cellOf(value: unknown): string {
  const isDeep = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 2;
  return inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: isDeep ? -1 : 0 });
}

function draw(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...lines.map((line) => line[column]?.length ?? 0)) + 2);
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const row = (cells: readonly string[]): string =>
    `│${cells.map((cell, column) => ` ${cell.padEnd((widths[column] ?? 2) - 1)}`).join("│")}│`;
  return [rule("┌", "┬", "┐"), row(header), rule("├", "┼", "┤"), ...lines.map(row), rule("└", "┴", "┘")].join("\n");
}

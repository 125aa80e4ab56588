import { describeGoal, isReached, ratioOf, type Figure } from "./figure.ts";

const columns = ["figure", "value", "unit", "baseline", "ratio", "goal", "reached"] as const;

/** The figures as a table for people; notes below it, by number. */
export function formatTable(figures: readonly Figure[]): string {
  const notes: string[] = [];
  const rows = figures.map((figure) => {
    const reached = isReached(figure);
    if (figure.note !== undefined) notes.push(figure.note);
    return [
      figure.note === undefined ? figure.name : `${figure.name} [${notes.length}]`,
      formatNumber(figure.value),
      figure.unit,
      formatNumber(figure.baseline),
      formatNumber(ratioOf(figure)),
      figure.goal === undefined ? "" : describeGoal(figure.goal),
      reached === undefined ? "" : reached ? "yes" : "NO",
    ];
  });
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    line(columns),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
    "",
    ...notes.map((note, index) => `[${index + 1}] ${note}`),
  ].join("\n");
}

function formatNumber(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "not measured";
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3);
}

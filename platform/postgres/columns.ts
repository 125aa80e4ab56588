/** Values of one column of many rows, for `unnest`. */
export function column<Row>(rows: readonly Row[], value: (row: Row) => string): string[] {
  return rows.map((row) => plain(value(row)));
}

export function optionalColumn<Row>(rows: readonly Row[], value: (row: Row) => string | null): (string | null)[] {
  return rows.map((row) => {
    const text = value(row);
    return text === null ? null : plain(text);
  });
}

export function integerColumn<Row>(rows: readonly Row[], value: (row: Row) => number): number[] {
  return rows.map((row) => integer(value(row)));
}

export function optionalIntegerColumn<Row>(rows: readonly Row[], value: (row: Row) => number | null): (number | null)[] {
  return rows.map((row) => {
    const number = value(row);
    return number === null ? null : integer(number);
  });
}

/** Text of user code may contain U+0000, which Postgres cannot store; one such event must not stop the history of all. */
export function plain(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}

/** Times from user code may be fractions or invalid. */
function integer(value: number): number {
  if (!Number.isFinite(value)) return 0;
  return Math.trunc(Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));
}

/** The last `keep` rows per source, in their order: more would be pruned right away. */
export function lastOfEach<Row>(rows: readonly Row[], sourceOf: (row: Row) => string, keep: number): Row[] {
  const counts = new Map<string, number>();
  const kept = rows.toReversed().filter((row) => {
    const count = (counts.get(sourceOf(row)) ?? 0) + 1;
    counts.set(sourceOf(row), count);
    return count <= keep;
  });
  return kept.reverse();
}

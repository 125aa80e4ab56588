import { counters, maxima, type Counter, type Maximum } from "../../../domain/measures/measure.ts";

/** `computeMs` → `compute_ms` */
const snakeCase = (name: Counter | Maximum): string => name.replaceAll(/([A-Z])/g, "_$1").toLowerCase();

export interface Column {
  readonly name: string;
  readonly field: Counter | Maximum;
  /** How values of several rows become one. */
  readonly combine: "sum" | "max";
}

const columnsOf = (fields: readonly (Counter | Maximum)[], combine: Column["combine"]): readonly Column[] =>
  fields.map((field) => ({ name: snakeCase(field), field, combine }));

/** Those with a number of a measure. */
export const measureColumns: readonly Column[] = [...columnsOf(counters, "sum"), ...columnsOf(maxima, "max")];

/** `name, name, …` */
export const names = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(", ");

/** Sums stay here, far below the end of 64 bits: forged numbers must not make statements fail. */
const maxSum = Number.MAX_SAFE_INTEGER;
/** SQL: a sum, null for zero, which takes no room. The argument must not be null: `least` would ignore it. */
const saturated = (sum: string): string => `nullif(least(${sum}, ${maxSum}), 0)`;

/** One row of several. */
export const combined = (columns: readonly Column[]): string =>
  columns.map(({ name, combine }) => saturated(`coalesce(${combine}(${name}), 0)`)).join(", ");

/** Adds a row to the one that is stored. */
export const onConflict = (columns: readonly Column[]): string =>
  `on conflict (subject, at_ms, bucket, slot) do update set ${columns.map(({ name, combine }) => `${name} = ${added(name, combine)}`).join(", ")}`;

const added = (name: string, combine: Column["combine"]): string =>
  combine === "max"
    ? `greatest(measures.${name}, excluded.${name})`
    : saturated(`coalesce(measures.${name}, 0) + coalesce(excluded.${name}, 0)`);

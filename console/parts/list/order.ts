import { text } from "./strings.ts";

/** Values of `sort` of the API; "" is its default, newest first. */
export type Sort = keyof typeof text.sorts;
export const sorts = Object.keys(text.sorts) as readonly Sort[]; // Exactly the keys of the object.

export type SortField = "name" | "created_at" | "updated_at";

export interface Sorting {
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

const newestFirst = "-created_at";

/** How a column is sorted, for `aria-sort`. */
export function directionOf(sort: Sort, field: SortField): "ascending" | "descending" | "none" {
  const value = sort === "" ? newestFirst : sort;
  if (value === field) return "ascending";
  return value === `-${field}` ? "descending" : "none";
}

/** What the button of a column does: first names from A and times from the newest, then the reverse. */
export function nextSort(sort: Sort, field: SortField): Sort {
  const direction = directionOf(sort, field);
  const isDescending = direction === "none" ? field !== "name" : direction === "ascending";
  const next = isDescending ? (`-${field}` as const) : field;
  return next === newestFirst ? "" : next;
}

/** The parameter of the API: its default has no value. */
export const apiSort = (sort: Sort): Exclude<Sort, ""> | undefined => (sort === "" ? undefined : sort);

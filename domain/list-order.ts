import { InvalidInput } from "./errors.ts";

/** What lists of sources, webhooks and workflows can be sorted by: fields of their responses. */
export const listSorts = ["name", "created_at", "updated_at"] as const;
export type ListSort = (typeof listSorts)[number];

export interface ListOrder {
  readonly by: ListSort;
  readonly isDescending: boolean;
}

/** Newest first: the order of lists without `sort`. */
export const newestFirst: ListOrder = { by: "created_at", isDescending: true };

/** Values of the parameter `sort`; `-` is descending. */
export const sortValues = ["name", "-name", "created_at", "-created_at", "updated_at", "-updated_at"] as const;

/** @param sort undefined: newest first */
export function orderOf(sort: (typeof sortValues)[number] | undefined): ListOrder {
  const by = listSorts.find((each) => sort === each || sort === `-${each}`);
  return by === undefined ? newestFirst : { by, isDescending: sort !== by };
}

/**
 * Position in a list that is sorted by a field which may change. Cursors contain it instead of an id: if an item is renamed between two pages,
 * the next page still begins where the last one ended. `created_at` never changes, so its cursors name ids.
 */
export interface SortPosition {
  /** What the item is sorted by: text, or epoch milliseconds as text. */
  readonly value: string;
  /** Name of the resource, which decides between equal values. */
  readonly name: string;
}

/** Characters of a name by which it is sorted; also the bound of a value in a cursor. */
export const maxSortedCharacters = 200;
const maxResourceName = 253;

export const formatPosition = (by: ListSort, { value, name }: SortPosition): string => JSON.stringify([by, value, name]);

/** @throws InvalidInput for a text that `formatPosition` has not made for this order */
export function parsePosition(by: ListSort, text: string): SortPosition {
  const [sortedBy, value, name, ...rest] = parseArray(text);
  const isPosition = rest.length === 0 && isBounded(value, maxSortedCharacters * 2) && isBounded(name, maxResourceName);
  if (sortedBy === by && isPosition && (by === "name" || /^-?\d{1,16}$/.test(value))) return { value, name };
  throw new InvalidInput(`the cursor is invalid for sort=${by}: use one that page_info gave for a list with the same sort`, {
    code: "invalid_cursor",
  });
}

function parseArray(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** Also storable in Postgres: without U+0000 and unpaired surrogates. */
function isBounded(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength && !value.includes("\0") && value.isWellFormed();
}

import { useCallback } from "react";
import { stringifySearch, useSearchParams, type SearchParams } from "../search.ts";
import { sorts, type Sort } from "./order.ts";

/** A filter of a list with a fixed set of values. */
export interface Facet<Value extends string = string> {
  /** Name of the search parameter. */
  readonly name: string;
  readonly label: string;
  /** The choice of no value. */
  readonly any: string;
  readonly options: Readonly<Record<Value, string>>;
}

export interface ListState {
  /** Name of the list, for what the browser stores. */
  readonly list: string;
  readonly facets: readonly Facet[];
  readonly q: string;
  readonly sort: Sort;
  /** Value of a facet; undefined: any, or one that it does not have. */
  valueOf<Value extends string>(facet: Facet<Value>): Value | undefined;
  /** Whether the list may leave something out. */
  readonly isFiltered: boolean;
  /** All parameters of the list in the address, "" for none. */
  readonly search: string;
  readonly setSearch: (changes: SearchParams) => void;
  readonly setText: (text: string) => void;
  readonly onSort: (sort: Sort) => void;
}

const isOf = <Value extends string>(options: Readonly<Record<Value, string>>, value: string): value is Value =>
  Object.hasOwn(options, value);

/** The state of a list, which is in the address: what is searched for, the facets, the order and the time range. */
export function useListState(list: string, facets: readonly Facet[]): ListState {
  const [params, setSearch] = useSearchParams();
  const { q = "", sort = "" } = params;
  const setText = useCallback((value: string) => setSearch({ q: value }, { replaces: true }), [setSearch]);
  const valueOf = <Value extends string>({ name, options }: Facet<Value>): Value | undefined => {
    const value = params[name] ?? "";
    return isOf(options, value) ? value : undefined;
  };
  return {
    list,
    facets,
    q,
    sort: sorts.find((each) => each === sort) ?? "",
    valueOf,
    isFiltered: q !== "" || facets.some((facet) => valueOf(facet) !== undefined),
    search: stringifySearch(ownParams(facets, params)).slice(1),
    setSearch,
    setText,
    onSort: (next) => setSearch({ sort: next }, { replaces: true }),
  };
}

/** The parameters that belong to the list. */
export function ownParams(facets: readonly Facet[], params: SearchParams): SearchParams {
  return Object.fromEntries(["q", "sort", "range", ...facets.map(({ name }) => name)].map((name) => [name, params[name]]));
}

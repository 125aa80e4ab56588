import { useLocation, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

export type SearchParams = Readonly<Record<string, string | undefined>>;

/** Search parameters stay texts. */
export const parseSearch = (text: string): SearchParams => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (typeof value === "string" && value !== "") params.set(name, value);
  return params.size === 0 ? "" : `?${params.toString()}`;
}

interface SetOptions {
  /** False: removes all other parameters but the organization. */
  readonly keepsOthers?: boolean;
  readonly replaces?: boolean;
}

export type SetSearch = (changes: SearchParams, options?: SetOptions) => void;

/** The search parameters of the address, and a function that changes some of them. */
export function useSearchParams(): readonly [SearchParams, SetSearch] {
  const search = useLocation({ select: (location) => location.search as SearchParams }); // By parseSearch.
  const navigate = useNavigate();
  const setSearch = useCallback<SetSearch>(
    (changes, { keepsOthers = true, replaces = false } = {}) => {
      const next = (before: SearchParams): SearchParams => ({ ...(keepsOthers ? before : { org: before["org"] }), ...changes });
      // A page that changes its own address while a person types or moves in a list keeps where it is scrolled to.
      void navigate({ to: ".", search: next as never, replace: replaces, resetScroll: !replaces }); // Cannot fail: the page is the same.
    },
    [navigate],
  );
  return [search, setSearch];
}

import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { SearchItem } from "../../client/generated/operations.ts";
import { useFollow, type Followed } from "./follow.ts";
import { api } from "./queries.ts";

const pageItems = 50;

export interface SearchResults {
  readonly items: readonly SearchItem[];
  /** Epoch ms. Null: everything was searched. */
  readonly searchedToMs: number | null;
  readonly error: Error | null;
  /** The first page, or one further back, is being read. */
  readonly isSearching: boolean;
  readonly isFirst: boolean;
  readonly searchFurther: () => void;
  readonly retry: () => void;
}

/** Searches when a query is given, and further back on request. A page may end before it is full. */
export function useSearch(q: string | undefined, owner: { readonly org_id?: string }): SearchResults {
  const query = useInfiniteQuery({
    queryKey: ["search", q, owner],
    queryFn: async ({ signal, pageParam }) => {
      const page = { ...owner, q: q ?? "", limit: pageItems, ...(pageParam === "" ? {} : { cursor: pageParam }) };
      return (await api.call("search", { query: page }, { signal })).data;
    },
    initialPageParam: "",
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
    enabled: q !== undefined,
    // What was found stays as it is until a person searches again: read again, pages would begin at other times.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { data, error, isFetching, isFetchingNextPage, fetchNextPage, refetch, isFetchNextPageError } = query;
  return {
    items: data?.pages.flatMap(({ items }) => items) ?? [],
    searchedToMs: data?.pages.at(-1)?.searched_to_ms ?? null,
    error,
    isSearching: isFetching,
    isFirst: isFetching && !isFetchingNextPage,
    searchFurther: () => void fetchNextPage(), // Errors are in `error`.
    retry: () => void (isFetchNextPageError ? fetchNextPage() : refetch()), // As above.
  };
}

/** What identifies an item among those of a search. A run is found again when its state changes. */
export const keyOfItem = ({ kind, source_id: source, id }: SearchItem): string => `${kind === "error" ? "run" : kind} ${source} ${id}`;

export interface LiveResults extends Pick<Followed<SearchItem>, "items" | "waiting" | "connection" | "error"> {
  /** Too much came at once, or while there was no connection. */
  readonly hasSkipped: boolean;
}

/** Puts new matches before those that were found, newest first, and searches again when it is first connected, so that none is missing in between. */
export function useLiveSearch(q: string, owner: { readonly org_id?: string }, found: SearchResults, isPaused: boolean): LiveResults {
  const [hasSkipped, setHasSkipped] = useState(false);
  const parse = (data: string, _id: string | undefined, type: string | undefined): SearchItem | undefined => {
    if (type === "skipped") setHasSkipped(true);
    return type === undefined ? (JSON.parse(data) as SearchItem) : undefined; // By the document of the stream.
  };
  const { items: live, connection, waiting, error } = useFollow("streamSearch", { query: { ...owner, q } }, { parse, isPaused });
  const hasSearched = useRef(false);
  const { retry } = found;
  useEffect(() => {
    if (connection !== "connected" || hasSearched.current) return;
    hasSearched.current = true;
    retry();
  }, [connection, retry]);
  const items = useMemo(() => firstOfEach([...live, ...found.items]), [live, found.items]);
  return { items, connection, waiting, error, hasSkipped };
}

function firstOfEach(items: readonly SearchItem[]): readonly SearchItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const { size } = seen;
    return seen.add(keyOfItem(item)).size > size;
  });
}

import { useInfiniteQuery } from "@tanstack/react-query";
import type { SearchItem } from "../../client/generated/operations.ts";
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

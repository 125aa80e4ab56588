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
  /** Searches again for a person who asks for it. */
  readonly retry: () => void;
  /** How often a person has asked for it. */
  readonly retries: number;
  /** Searches again, without a person. */
  readonly refresh: () => void;
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
  const [retries, setRetries] = useState(0);
  const { data, error, isFetching, isFetchingNextPage, fetchNextPage, refetch, isFetchNextPageError } = query;
  return {
    items: data?.pages.flatMap(({ items }) => items) ?? [],
    searchedToMs: data?.pages.at(-1)?.searched_to_ms ?? null,
    error,
    isSearching: isFetching,
    isFirst: isFetching && !isFetchingNextPage,
    searchFurther: () => void fetchNextPage(), // Errors are in `error`.
    retry: () => {
      setRetries((count) => count + 1);
      void (isFetchNextPageError ? fetchNextPage() : refetch()); // As above.
    },
    retries,
    refresh: () => void refetch(), // As above.
  };
}

/** What identifies an item among those of a search. A run is found again when its state changes. */
export const keyOfItem = ({ kind, source_id: source, id }: SearchItem): string => `${kind === "error" ? "run" : kind} ${source} ${id}`;

export interface LiveResults extends Pick<Followed<SearchItem>, "items" | "waiting" | "connection" | "error" | "lostBecause"> {
  /** Too much came at once, or while there was no connection, and the person has not searched since. */
  readonly hasSkipped: boolean;
}

/** By then, the history has what was committed before the stream began. */
const recordedMs = 5_000;

/** Puts new matches before those that were found, newest first. */
export function useLiveSearch(q: string, owner: { readonly org_id?: string }, found: SearchResults, isPaused: boolean): LiveResults {
  /** The value of `retries` when something was skipped. */
  const [skippedAt, setSkippedAt] = useState<number | undefined>(undefined);
  const parse = (data: string, _id: string | undefined, type: string | undefined): SearchItem | undefined => {
    if (type === "skipped") setSkippedAt(found.retries);
    return type === undefined ? (JSON.parse(data) as SearchItem) : undefined; // By the document of the stream.
  };
  const { items: live, ...followed } = useFollow("streamSearch", { query: { ...owner, q } }, { parse, isPaused });
  useRefresh(followed.connection === "connected", isPaused, found.refresh);
  const items = useMemo(() => firstOfEach([...live, ...found.items]), [live, found.items]);
  return { ...followed, items, hasSkipped: skippedAt === found.retries };
}

/**
 * Searches again whenever the stream is connected, for scheduled events of the time without a connection; and once more when the history has what
 * was committed just before. Not while a person reads: the results would move.
 */
function useRefresh(isConnected: boolean, isPaused: boolean, refresh: () => void): void {
  const [isDue, setIsDue] = useState(false);
  const latest = useRef(refresh);
  useEffect(() => void (latest.current = refresh), [refresh]);
  useEffect(() => {
    if (!isConnected) return;
    setIsDue(true);
    const timer = setTimeout(() => setIsDue(true), recordedMs);
    return () => clearTimeout(timer);
  }, [isConnected]);
  useEffect(() => {
    if (!isDue || isPaused) return;
    setIsDue(false);
    latest.current();
  }, [isDue, isPaused]);
}

function firstOfEach(items: readonly SearchItem[]): readonly SearchItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const { size } = seen;
    return seen.add(keyOfItem(item)).size > size;
  });
}

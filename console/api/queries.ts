import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { createClient, type Arguments, type OperationId } from "../../client/client.ts";
import type { Operations, Warning } from "../../client/generated/operations.ts";
import type { Page } from "../../client/pages.ts";
import { reportError, reportWarnings } from "./query-client.ts";
import { sessionHeaders } from "./session.ts";

export type ResponseOf<Id extends OperationId> = Operations[Id]["response"];
/** Operations that return a page of a list. */
export type ListId = { [Id in OperationId]: ResponseOf<Id> extends Page<unknown> ? Id : never }[OperationId];
export type ItemOf<Id extends ListId> = ResponseOf<Id> extends Page<infer Item> ? Item : never;

export const api = createClient({ baseUrl: "", headers: sessionHeaders });

/** Items that a page has if the list says nothing else. */
const defaultPageItems = 100;

interface ReadOptions {
  readonly enabled?: boolean;
  /** Reads again after this time, while the page is visible. */
  readonly everyMs?: number;
}

/** Reads an operation, and again when a change invalidates it. */
export function useRead<Id extends OperationId>(id: Id, args: Arguments<Id>, options: ReadOptions = {}): UseQueryResult<ResponseOf<Id>> {
  return useQuery<ResponseOf<Id>>({
    queryKey: [id, args],
    queryFn: ({ signal }) => api.call(id, args, { signal }),
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
  });
}

export interface List<Item> {
  readonly items: readonly Item[];
  /** Undefined until the first page is there. */
  readonly total: number | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  /** Reads the next page, if there is one and none is being read. */
  readonly readMore: () => void;
  readonly reload: () => void;
  /** The items are those of an earlier query, until the first page of this one is read. */
  readonly isEarlier: boolean;
}

/** Those that may be acted on. */
export const shownItems = <Item>({ items, isEarlier }: List<Item>): readonly Item[] => (isEarlier ? [] : items);

interface ListOptions<Item> extends ReadOptions {
  readonly pageItems?: number;
  /** Of a sorted list: an item that moves while its pages are read may be on two of them, and is shown once. */
  readonly keyOf?: (item: Item) => string;
}

interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/** Reads a list page by page. */
export function useList<Id extends ListId>(id: Id, args: Arguments<Id>, options: ListOptions<ItemOf<Id>> = {}): List<ItemOf<Id>> {
  return usePages<ItemOf<Id>>(
    [id, args],
    // The operation returns a page, as ListId says.
    async (page, signal) =>
      (await api.call(id, { ...args, query: { ...args.query, ...page } } as Arguments<Id>, { signal })) as unknown as Page<ItemOf<Id>>,
    options,
  );
}

/** Reads a list page by page. @param key what the list depends on */
export function usePages<Item>(
  key: readonly unknown[],
  read: (page: PageQuery, signal: AbortSignal) => Promise<Page<Item>>,
  options: ListOptions<Item> = {},
): List<Item> {
  const query = useInfiniteQuery({
    queryKey: [...key, "pages"],
    queryFn: ({ signal, pageParam }) =>
      read({ limit: options.pageItems ?? defaultPageItems, ...(pageParam === "" ? {} : { after: pageParam }) }, signal),
    initialPageParam: "",
    getNextPageParam: (last, pages) => {
      const read = pages.reduce((sum, { data }) => sum + data.length, 0);
      return last.data.length === 0 || read >= last.page_info.total_count ? undefined : (last.page_info.end_cursor ?? undefined);
    },
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
  });
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } = query;
  // After a refusal (such as 429) only a reload reads on; otherwise each render would ask again.
  const canReadMore = hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  const { keyOf } = options;
  const items = useMemo(() => {
    const all = data?.pages.flatMap((page) => page.data) ?? [];
    return keyOf === undefined ? all : [...new Map(all.map((item) => [keyOf(item), item])).values()];
  }, [data, keyOf]);
  return {
    items,
    total: data?.pages[0]?.page_info.total_count,
    error: query.error,
    isLoading: query.isPending && (options.enabled ?? true),
    hasMore: hasNextPage,
    readMore: () => void (canReadMore && fetchNextPage()), // Errors are in `error`.
    reload: () => void refetch(), // As above.
    isEarlier: query.isPlaceholderData,
  };
}

/** The matching items of a list that the API cannot filter: reads on until a page of them is found or the list ends. */
export function useMatching<Item>(list: List<Item>, matches: (item: Item) => boolean): List<Item> {
  const items = list.items.filter(matches);
  const { hasMore, readMore, error } = list;
  const readsOn = hasMore && error === null && items.length < defaultPageItems;
  useEffect(() => {
    if (readsOn) readMore();
  }, [readsOn, readMore]);
  return { ...list, items, isLoading: list.isLoading || (readsOn && items.length === 0) };
}

interface ChangeOptions<Id extends OperationId> {
  /** Operations whose results the change makes out of date; by default all. */
  readonly invalidates?: readonly OperationId[];
  readonly onDone?: (response: ResponseOf<Id>, args: Arguments<Id>) => void;
  /** True: the caller shows the response's warnings. By default they are shown as a message. */
  readonly showsWarnings?: boolean;
}

/** Any response with data may have warnings. */
const warningsOf = (response: unknown): readonly Warning[] =>
  (response as { readonly warnings?: readonly Warning[] } | undefined)?.warnings ?? [];

/** Calls an operation that changes something, then reads again what it changed. */
export function useChange<Id extends OperationId>(
  id: Id,
  { invalidates, onDone, showsWarnings = false }: ChangeOptions<Id> = {},
): UseMutationResult<ResponseOf<Id>, Error, Arguments<Id>> {
  const client = useQueryClient();
  return useMutation<ResponseOf<Id>, Error, Arguments<Id>>({
    mutationFn: (args) => api.call(id, args),
    onError: reportError,
    onSuccess: async (response, args) => {
      onDone?.(response, args);
      if (!showsWarnings) reportWarnings(warningsOf(response));
      await client.invalidateQueries({ predicate: ({ queryKey }) => invalidates?.some((name) => name === queryKey[0]) ?? true });
    },
  });
}

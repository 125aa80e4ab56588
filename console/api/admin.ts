import { useMutation, useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { createClient, type Arguments, type OperationId } from "../../client/client.ts";
import type { Page } from "../../client/pages.ts";
import { usePages, type ItemOf, type List, type ListId, type ResponseOf } from "./queries.ts";

/** Operations of the admin API. */
export type AdminOperationId = Extract<OperationId, `admin${string}`>;

/** The admin token stays in the memory of this tab: it can do more than any key. */
let token = "";
/** Part of the keys of queries, so that another token does not see what the last one read. */
let tokenNumber = 0;
const listeners = new Set<() => void>();

export function setAdminToken(next: string): void {
  token = next;
  tokenNumber++;
  for (const listener of listeners) listener();
}

export const useHasAdminToken = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => token !== "",
  );

const client = createClient({
  baseUrl: "",
  headers: () => ({ authorization: `Bearer ${token}` }),
  // Without the session's cookie, the API sees the admin token alone.
  fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
});

/** Reads an operation of the admin API. */
export function useAdminRead<Id extends AdminOperationId>(id: Id, args: Arguments<Id>, everyMs?: number): UseQueryResult<ResponseOf<Id>> {
  const hasToken = useHasAdminToken();
  return useQuery<ResponseOf<Id>>({
    queryKey: ["admin", tokenNumber, id, args],
    queryFn: ({ signal }) => client.call(id, args, { signal }),
    enabled: hasToken,
    retry: false,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

/** Reads a list of the admin API page by page. */
export function useAdminList<Id extends AdminOperationId & ListId>(id: Id, args: Arguments<Id>): List<ItemOf<Id>> {
  const hasToken = useHasAdminToken();
  return usePages<ItemOf<Id>>(
    ["admin", tokenNumber, id, args],
    // The operation returns a page, as ListId says.
    async (page, signal) =>
      (await client.call(id, { ...args, query: { ...args.query, ...page } } as Arguments<Id>, { signal })) as unknown as Page<ItemOf<Id>>,
    { enabled: hasToken },
  );
}

/** Calls an operation of the admin API that changes something. */
export function useAdminChange<Id extends AdminOperationId>(
  id: Id,
  onDone?: (response: ResponseOf<Id>) => void,
): UseMutationResult<ResponseOf<Id>, Error, Arguments<Id>> {
  const queries = useQueryClient();
  return useMutation<ResponseOf<Id>, Error, Arguments<Id>>({
    mutationFn: (args) => client.call(id, args),
    onSuccess: async (response) => {
      onDone?.(response);
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
}

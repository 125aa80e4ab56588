import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "../../client/errors.ts";
import type { Warning } from "../../client/generated/operations.ts";

const listeners = new Set<() => void>();
let showWarnings: (warnings: readonly Warning[]) => void = () => undefined;

/** Shows the warnings of changes from now on. */
export function onWarnings(show: (warnings: readonly Warning[]) => void): void {
  showWarnings = show;
}

export function reportWarnings(warnings: readonly Warning[]): void {
  if (warnings.length > 0) showWarnings(warnings);
}

/** Calls back when the server no longer knows the session. */
export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function reportError(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) for (const listener of listeners) listener();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // The admin API refuses its own token, which says nothing about the session.
    onError: (error, query) => query.queryKey[0] !== "admin" && reportError(error),
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one; a server that is away comes back.
      retry: (failures, error) => failures < 3 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

import { keepPreviousData, useQueries } from "@tanstack/react-query";
import type { Metrics } from "../../../client/generated/operations.ts";
import { api } from "../../api/queries.ts";

/** As many as the API takes in one request. */
const idsPerRequest = 100;
const refreshMs = 60_000;

/** The last day, by hour, of the items of a list. Items whose numbers are not there yet are absent. */
export function useMetricsOf(ids: readonly string[]): ReadonlyMap<string, Metrics> {
  const chunks = Array.from({ length: Math.ceil(ids.length / idsPerRequest) }, (_, index) =>
    ids.slice(index * idsPerRequest, (index + 1) * idsPerRequest).join(","),
  );
  const results = useQueries({
    queries: chunks.map((chunk) => ({
      queryKey: ["listMetrics", chunk],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        api.call("listMetrics", { query: { ids: chunk, step: "hour" } }, { signal }),
      placeholderData: keepPreviousData,
      staleTime: refreshMs,
      refetchInterval: refreshMs,
    })),
  });
  return new Map(results.flatMap(({ data }) => (data?.data ?? []).map((metrics) => [metrics.id, metrics] as const)));
}

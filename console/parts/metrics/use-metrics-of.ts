import { keepPreviousData, useQueries } from "@tanstack/react-query";
import type { Metrics } from "../../../client/generated/operations.ts";
import { api } from "../../api/queries.ts";
import { startOfRange, type RangeName } from "./range.tsx";

/** As many as the API takes in one request. */
const idsPerRequest = 100;
const refreshMs = 60_000;

/** So long that 100 items have no more points than the API returns at once. */
const steps = { "1h": "5_minutes", "24h": "hour", "7d": "day", "30d": "day" } as const satisfies Record<RangeName, string>;

/** A range until now of the items of a list. Items whose numbers are not there yet are absent. */
export function useMetricsOf(items: readonly { readonly id: string }[], range: RangeName): ReadonlyMap<string, Metrics> {
  const ids = items.map(({ id }) => id);
  const chunks = Array.from({ length: Math.ceil(ids.length / idsPerRequest) }, (_, index) =>
    ids.slice(index * idsPerRequest, (index + 1) * idsPerRequest).join(","),
  );
  const results = useQueries({
    queries: chunks.map((chunk) => ({
      queryKey: ["listMetrics", chunk, range],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        api.call("listMetrics", { query: { ids: chunk, from: startOfRange(range), step: steps[range] } }, { signal }),
      placeholderData: keepPreviousData,
      staleTime: refreshMs,
      refetchInterval: refreshMs,
    })),
  });
  return new Map(results.flatMap(({ data }) => (data?.data ?? []).map((metrics) => [metrics.id, metrics] as const)));
}

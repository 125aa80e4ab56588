import type { Source } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { MetricsSection, metricsEveryMs } from "../../parts/metrics/metrics-section.tsx";
import { useRange } from "../../parts/metrics/range.tsx";
import { chartsOfRuns } from "../../parts/metrics/series.ts";
import { text } from "./strings.ts";

export function MetricsTab({ source }: { readonly source: Source }) {
  const { name, query } = useRange();
  const read = useRead("getSourceMetrics", { path: { id: source.id }, query }, { everyMs: metricsEveryMs });
  return <MetricsSection title={text.tabs.metrics} kinds={chartsOfRuns} range={name} read={read} />;
}

import type { Webhook } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { MetricsSection, metricsEveryMs } from "../../parts/metrics/metrics-section.tsx";
import { useRange } from "../../parts/metrics/range.tsx";
import { chartsOfWebhook } from "../../parts/metrics/series.ts";
import { text } from "./strings.ts";

export function MetricsTab({ webhook }: { readonly webhook: Webhook }) {
  const { name, query } = useRange();
  const read = useRead("getWebhookMetrics", { path: { id: webhook.id }, query }, { everyMs: metricsEveryMs });
  return <MetricsSection title={text.tabs.metrics} kinds={chartsOfWebhook} range={name} read={read} />;
}

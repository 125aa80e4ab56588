import { useRead } from "../../api/queries.ts";
import { Charts } from "../../parts/metrics/charts.tsx";
import { metricsEveryMs } from "../../parts/metrics/metrics-section.tsx";
import { chartsOfOwner } from "../../parts/metrics/series.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { text } from "./strings.ts";

/** What all sources, workflows and webhooks did in the last 24 hours. */
export function Curves() {
  const read = useRead("getMyMetrics", { query: useOwnerQuery() }, { everyMs: metricsEveryMs });
  return (
    <Section title={text.lastDay}>
      <Loaded isLoading={read.isPending} error={read.data === undefined ? read.error : null} retry={() => void read.refetch()}>
        {read.data !== undefined && <Charts metrics={read.data.data} kinds={chartsOfOwner} />}
      </Loaded>
    </Section>
  );
}

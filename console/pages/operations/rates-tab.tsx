import { useAdminRead } from "../../api/admin.ts";
import { formatCount } from "../../parts/format.ts";
import { MetricsSection, metricsEveryMs } from "../../parts/metrics/metrics-section.tsx";
import { useRange } from "../../parts/metrics/range.tsx";
import { chartsOfOwner } from "../../parts/metrics/series.ts";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { text } from "./strings.ts";

/** "Now" is a mean over these minutes: what happens is counted when it is recorded, some seconds later. */
const nowMinutes = 5;
const minuteMs = 60_000;

/** What all owners did over time, and how much of it there is a minute. */
export function RatesTab() {
  const { name, query } = useRange();
  const metrics = useAdminRead("adminGetMetrics", { query }, metricsEveryMs);
  return (
    <MetricsSection title={text.tabs.rates} kinds={chartsOfOwner} range={name} read={metrics}>
      <Now />
    </MetricsSection>
  );
}

function Now() {
  const thisMinute = Math.floor(Date.now() / minuteMs) * minuteMs;
  const from = thisMinute - nowMinutes * minuteMs;
  const recent = useAdminRead("adminGetMetrics", { query: { from, to: thisMinute, step: "minute" } }, metricsEveryMs);
  if (recent.data === undefined) return recent.error === null ? null : <ErrorNotice error={recent.error} />;
  const { runs, errors, events, deliveries, attempts } = recent.data.data.total;
  const perMinute = (count: number): string => formatCount(Math.round((count / nowMinutes) * 10) / 10);
  return (
    <>
      <Facts
        facts={[
          [text.runsPerMinute, perMinute(runs)],
          [text.failedPerMinute, perMinute(errors)],
          [text.eventsPerMinute, perMinute(events)],
          [text.attemptsPerMinute, perMinute(attempts)],
          [text.deliveriesPerMinute, perMinute(deliveries)],
        ]}
      />
      <p className="text-xs text-muted">{text.ratesHint}</p>
    </>
  );
}

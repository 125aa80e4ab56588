import type { Usage } from "../../client/generated/operations.ts";
import { formatCount, formatDuration } from "./format.ts";
import { Facts } from "./page.tsx";
import { Time } from "./time.tsx";

const text = {
  plan: "Plan",
  invocations: "Runs",
  runTime: "Run time",
  events: "Events",
  deliveries: "Deliveries",
  resets: "Starts again",
  ofQuota: (used: string, quota: string) => `${used} of ${quota}`,
  noLimit: (used: string) => `${used} (no limit)`,
} as const;

const share = ({ used, quota }: { readonly used: number; readonly quota: number | null }, format: (value: number) => string): string =>
  quota === null ? text.noLimit(format(used)) : text.ofQuota(format(used), format(quota));

/** Usage of today against the quotas. */
export function UsageFacts({ usage }: { readonly usage: Usage }) {
  return (
    <Facts
      facts={[
        [text.plan, usage.plan],
        [text.invocations, share(usage.invocations, formatCount)],
        [text.runTime, share(usage.run_time_ms, formatDuration)],
        [text.events, formatCount(usage.events.used)],
        [text.deliveries, formatCount(usage.deliveries.used)],
        [text.resets, <Time key="resets" ms={usage.reset_ts * 1_000} />],
      ]}
    />
  );
}

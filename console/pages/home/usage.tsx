import { useRead } from "../../api/queries.ts";
import { formatCount, formatDuration } from "../../parts/format.ts";
import { Facts, Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

/** Above this share of a quota, Home says so. */
const nearShare = 0.8;

/** Runs and compute time of today, against the quotas. */
export function Usage() {
  const me = useRead("getMe", {});
  const user = me.data?.data;
  if (user?.daily_invocations_used === undefined) return null;
  const {
    daily_invocations_used: used,
    daily_invocations_quota: quota,
    daily_compute_time_used: time = 0,
    daily_compute_time_quota: timeQuota,
  } = user;
  const share = (value: number, limit: number | undefined, format: (value: number) => string): string =>
    limit === undefined || limit >= Number.MAX_SAFE_INTEGER ? text.noLimit(format(value)) : text.ofQuota(format(value), format(limit));
  return (
    <Section title={text.usage}>
      {quota !== undefined && used >= quota * nearShare && used < quota && (
        <p role="status" className="text-sm text-warn">
          {text.quotaNear(formatCount(used), formatCount(quota))}
        </p>
      )}
      <Facts
        facts={[
          [text.runs, share(used, quota, formatCount)],
          [text.computeTime, share(time, timeQuota, formatDuration)],
        ]}
      />
    </Section>
  );
}

import { sql, type RawBuilder } from "kysely";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { isId } from "../../../domain/ids.ts";
import { countCommit, durationOf, maxEarlyMs, maxLateMs, timeOf } from "../../../domain/measures/count.ts";
import { bucketOf } from "../../../domain/measures/histogram.ts";
import { startOfStep, stepMs } from "../../../domain/measures/steps.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { column, integerColumn, optionalIntegerColumn } from "../columns.ts";
import { combined, measureColumns, names, onConflict, type Column } from "./columns.ts";
import { slotOf } from "./slots.ts";
import { noBucket } from "./table.ts";

const ofRuns = upsert("runs", "errors", "events", "computeMs", "waits", "waitedMs", "maxWaitedMs", "maxDurationMs");
const ofAttempts = upsert("attempts", "failedAttempts", "deliveries", "deadLetters", "maxDurationMs");

/** SQL: the minute in which a row counts, see {@link maxLateMs}. Its clock is that of the sweep. */
const countedMinute = sql.raw(
  `case when row.at_ms between now.ms - ${maxLateMs} and now.ms + ${maxEarlyMs} then row.at_ms else now.ms - now.ms % ${stepMs.minute} end as at_ms`,
);
/** Computed once for a statement, not for each row. */
const currentTime = sql.raw("(select (extract(epoch from now()) * 1000)::bigint as ms offset 0) as now");

/** Around a select of `subject`, `at_ms` (a minute), `bucket` and the columns. */
function upsert(...fields: readonly Column["field"][]): { readonly insert: string; readonly end: string } {
  const columns = measureColumns.filter(({ field }) => fields.includes(field));
  return {
    insert: `insert into measures (subject, slot, at_ms, bucket, ${names(columns)})
      select subject, ${slotOf("minute", "at_ms")}, at_ms, bucket, ${combined(columns)} from (`,
    // Other processes count for the same owners and webhooks: in one order they cannot block each other.
    end: `) counted group by subject, at_ms, bucket order by subject, at_ms, bucket ${onConflict(columns)}`,
  };
}

const bucketOrNone = (durationMs: number | null): number => (durationMs === null ? noBucket : bucketOf(durationMs));

interface SequencedCommit {
  readonly seq: number;
  readonly commit: Commit;
}

/**
 * Adds the commits in `unrecorded` to the minutes of their source or workflow, and of the owner, in one statement.
 * @param after a condition that is true once the statement has changed the rows that other statements change before measures
 */
export function addCommits(batch: readonly SequencedCommit[], after: RawBuilder<unknown>): RawBuilder<unknown> {
  const rows = batch.map(({ seq, commit }) => ({ seq, commit, count: countCommit(commit) }));
  return sql`${sql.raw(ofRuns.insert)}
    select subject.id as subject, ${countedMinute}, row.bucket, row.runs, row.errors, row.events, row.compute_ms,
      case when row.waited_ms is null then 0 else 1 end as waits, row.waited_ms, row.waited_ms as max_waited_ms, row.duration_ms as max_duration_ms
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, ({ commit }) => commit.source)}::text[], ${column(rows, ({ commit }) => commit.owner)}::text[],
      ${integerColumn(rows, ({ count }) => startOfStep(count.atMs, "minute"))}::bigint[],
      ${rows.map(({ count }) => bucketOrNone(count.durationMs))}::smallint[],
      ${rows.map(({ count }) => count.runs)}::integer[], ${rows.map(({ count }) => count.errors)}::integer[], ${rows.map(({ count }) => count.events)}::integer[],
      ${integerColumn(rows, ({ count }) => count.computeMs)}::bigint[], ${optionalIntegerColumn(rows, ({ count }) => count.waitedMs)}::bigint[],
      ${optionalIntegerColumn(rows, ({ count }) => count.durationMs)}::bigint[]
    ) as row (commit_seq, source, owner, at_ms, bucket, runs, errors, events, compute_ms, waited_ms, duration_ms)
    cross join ${currentTime}
    cross join lateral (values (row.source), (row.owner)) as subject (id)
    where row.commit_seq in (select commit_seq from unrecorded) and ${after}
    ${sql.raw(ofRuns.end)}`;
}

/** Tests of webhooks do not count. The webhook of what a run of a workflow sends is the workflow. */
const isCounted = ({ webhook, source }: Attempt): boolean => webhook !== source || !isId("webhook", webhook);

/**
 * Adds the attempts in `inserted` to the minutes of their webhook or workflow, and of the owner. Only those at webhooks have durations: those
 * of workflows and owners are of runs. @param after as above
 */
export function addAttempts(attempts: readonly Attempt[], after: RawBuilder<unknown>): RawBuilder<unknown> {
  const rows = attempts.filter(isCounted);
  const durationOfWebhook = ({ webhook, durationMs }: Attempt): number | null => (isId("webhook", webhook) ? durationOf(durationMs) : null);
  return sql`${sql.raw(ofAttempts.insert)}
    select subject.id as subject, ${countedMinute}, subject.bucket, 1 as attempts, row.failed as failed_attempts, 1 - row.failed as deliveries, row.dead as dead_letters,
      subject.duration_ms as max_duration_ms
    from unnest(
      ${column(rows, ({ webhook }) => webhook)}::text[], ${column(rows, ({ delivery }) => delivery)}::text[], ${integerColumn(rows, ({ attempt }) => attempt)}::integer[],
      ${column(rows, ({ owner }) => owner)}::text[], ${integerColumn(rows, ({ at, durationMs }) => startOfStep(timeOf(at + durationMs), "minute"))}::bigint[],
      ${rows.map(({ outcome }) => (outcome === "delivered" ? 0 : 1))}::integer[], ${rows.map(({ outcome }) => (outcome === "dead" ? 1 : 0))}::integer[],
      ${optionalIntegerColumn(rows, (row) => durationOfWebhook(row))}::bigint[],
      ${rows.map((row) => bucketOrNone(durationOfWebhook(row)))}::smallint[]
    ) as row (webhook, delivery, attempt, owner, at_ms, failed, dead, duration_ms, bucket)
    join inserted using (delivery, attempt)
    cross join ${currentTime}
    cross join lateral (values (row.webhook, row.duration_ms, row.bucket), (row.owner, null, ${sql.lit(noBucket)})) as subject (id, duration_ms, bucket)
    where ${after}
    ${sql.raw(ofAttempts.end)}`;
}

import { sql, type Kysely, type RawBuilder } from "kysely";
import type { MeasureRange, Measures } from "../../../api/metrics/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { emptyHistogram } from "../../../domain/measures/histogram.ts";
import { emptyMeasure, type TimedMeasure } from "../../../domain/measures/measure.ts";
import type { Tables } from "../tables.ts";
import { isTimeout, readWithin } from "../timed-read.ts";
import { measureColumns } from "./columns.ts";

interface Row extends Readonly<Record<string, unknown>> {
  readonly subject: string;
  readonly at: number;
  readonly buckets: readonly number[];
  readonly counts: readonly number[];
}

const perBucket = measureColumns.map(({ name, combine }) => `${combine}(${name}) as ${name}`).join(", ");
const perStep = measureColumns
  .map(({ name, combine }) => `least(coalesce(${combine}(${name}), 0), ${Number.MAX_SAFE_INTEGER})::bigint as ${name}`)
  .join(", ");

/**
 * What happened is in rows of its minute, later of its hour, then of its day. So the rows of all steps are added. While the sweep truncates a
 * partition, a read waits for its lock. Postgres locks all partitions before it takes the snapshot of the statement, so the read then sees the
 * moved rows. It must stay one statement, whose transaction has no older snapshot: those would see neither the old rows nor the new.
 */
export function createMeasures(
  { db }: { readonly db: Kysely<Tables> },
  { maxAllMs = defaultMaxAllMs }: { readonly maxAllMs?: number } = {},
): Measures {
  return {
    async read(subjects, range) {
      const { rows } = await sql<Row>`${measuresOf(sql`subject`, sql`subject = any(${subjects}::text[])`, range)}`.execute(db);
      const read = new Map<string, TimedMeasure[]>(subjects.map((subject) => [subject, []]));
      for (const row of rows) read.get(row.subject)?.push(measureFrom(row));
      return read;
    },
    async readAll(range) {
      const owners = sql`select id from users union all select id from organizations`;
      try {
        return (await readWithin<Row>(db, maxAllMs, measuresOf(sql`''`, sql`subject in (${owners})`, range))).map(measureFrom);
      } catch (error) {
        if (!isTimeout(error)) throw error;
        throw new Unavailable(`reading the metrics of all owners takes more than ${maxAllMs / 1_000} s: choose a shorter range`, {
          cause: error,
        });
      }
    },
  };
}

/** Reading all owners costs a row for each that was active in a minute. */
const defaultMaxAllMs = 10_000;

/** @param subject as which rows are added */
const measuresOf = (subject: RawBuilder<unknown>, selected: RawBuilder<unknown>, { fromMs, untilMs, stepMs }: MeasureRange) => sql`
  select subject, at, ${sql.raw(perStep)},
    array_agg(bucket::integer) filter (where bucket >= 0) as buckets,
    array_agg((coalesce(runs, 0) + coalesce(attempts, 0))::float8) filter (where bucket >= 0) as counts
  from (
    select ${subject} as subject, at_ms - at_ms % ${sql.lit(stepMs)} as at, bucket, ${sql.raw(perBucket)} from measures
    where ${selected} and at_ms >= ${fromMs} and at_ms < ${untilMs}
    group by 1, 2, 3
  ) part group by subject, at order by subject, at`;

function measureFrom(row: Row): TimedMeasure {
  const durations = [...emptyHistogram];
  row.buckets?.forEach((bucket, index) => (durations[bucket] = row.counts[index] ?? 0));
  const measure = { ...emptyMeasure, atMs: row.at, durations };
  for (const { name, field } of measureColumns) measure[field] = Number(row[name]);
  return measure;
}

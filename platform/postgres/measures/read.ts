import { sql, type Kysely } from "kysely";
import type { Measures } from "../../../api/metrics/ports.ts";
import { emptyHistogram } from "../../../domain/measures/histogram.ts";
import { emptyMeasure, type TimedMeasure } from "../../../domain/measures/measure.ts";
import type { Tables } from "../tables.ts";
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
 * moved rows. It must stay one statement, outside of transactions with an older snapshot: those would see neither the old rows nor the new.
 */
export function createMeasures({ db }: { readonly db: Kysely<Tables> }): Measures {
  return {
    async read(subjects, { fromMs, untilMs, stepMs }) {
      const { rows } = await sql<Row>`
        select subject, at, ${sql.raw(perStep)},
          array_agg(bucket::integer) filter (where bucket >= 0) as buckets,
          array_agg((coalesce(runs, 0) + coalesce(attempts, 0))::float8) filter (where bucket >= 0) as counts
        from (
          select subject, at_ms - at_ms % ${sql.lit(stepMs)} as at, bucket, ${sql.raw(perBucket)} from measures
          where subject = any(${subjects}::text[]) and at_ms >= ${fromMs} and at_ms < ${untilMs}
          group by subject, at, bucket
        ) part group by subject, at order by subject, at`.execute(db);
      const read = new Map<string, TimedMeasure[]>(subjects.map((subject) => [subject, []]));
      for (const row of rows) read.get(row.subject)?.push(measureFrom(row));
      return read;
    },
  };
}

function measureFrom(row: Row): TimedMeasure {
  const durations = [...emptyHistogram];
  row.buckets?.forEach((bucket, index) => (durations[bucket] = row.counts[index] ?? 0));
  const measure = { ...emptyMeasure, atMs: row.at, durations };
  for (const { name, field } of measureColumns) measure[field] = Number(row[name]);
  return measure;
}

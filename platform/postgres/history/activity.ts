import { sql } from "kysely";
import { firstLine, type LatestRuns } from "../../../domain/source/source-health.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Activity } from "../../../operator/ports.ts";
import type { Database } from "../connection.ts";
import { withoutReceived } from "./runs.ts";

interface Row {
  readonly source: string;
  readonly last_ms: number;
  readonly error_ms: number | null;
  readonly summary: string | null;
  readonly deployment: string;
  /** Null: the last run succeeded. */
  readonly failing_ms: number | null;
  readonly failing: number | null;
}

/**
 * One query for all sources: it probes the runs' index for each, and reads the stored runs (a few hundred) of those that have run since.
 */
export function createActivity({ db }: Pick<Database, "db">): Activity {
  return {
    async since(known) {
      if (known.length === 0) return [];
      const sources = known.map(({ source }) => source);
      const times = known.map(({ lastRunAt }) => lastRunAt);
      const { rows } = await sql<Row>`
        select asked.source, last.started_ms as last_ms, last.deployment, failed.started_ms as error_ms, failed.summary,
          failing.since_ms as failing_ms, failing.count as failing
        from unnest(${sources}::text[], ${times}::bigint[]) as asked (source, known_ms)
        cross join lateral (select started_ms, failed, deployment from runs where source = asked.source order by n desc limit 1) last
        left join lateral (
          select started_ms, ${withoutReceived} as summary from runs where source = asked.source and failed and last.started_ms > asked.known_ms
          order by n desc limit 1
        ) failed on true
        left join lateral (
          select min(started_ms) as since_ms, count(*) as count from runs
          where source = asked.source and last.failed and last.started_ms > asked.known_ms and n > coalesce((
            select n from runs where source = asked.source and (not failed or deployment <> last.deployment) order by n desc limit 1
          ), -1)
        ) failing on last.failed
        where last.started_ms > asked.known_ms`.execute(db);
      return rows.map((row) => ({ source: row.source, ...latestRuns(row) }));
    },
  };
}

function latestRuns({ last_ms, error_ms, summary, deployment, failing_ms, failing }: Row): LatestRuns {
  const error = errorOf(summary);
  return {
    lastRunAt: last_ms,
    lastError: error === undefined || error_ms === null ? undefined : { ...error, at: error_ms },
    failing:
      error === undefined || failing_ms === null || failing === null ? undefined : { deployment, count: failing, since: failing_ms, error },
  };
}

/** Parses a run's summary, written by record.ts. Uses the first line of the message. */
function errorOf(summary: string | null): Pick<RunError, "name" | "message" | "code"> | undefined {
  const { error } = JSON.parse(summary ?? "{}") as { readonly error?: RunError | null };
  if (error === undefined || error === null) return undefined;
  const { name, message, code } = error;
  return { name: firstLine(name), message: firstLine(message), ...(code === undefined ? {} : { code }) };
}

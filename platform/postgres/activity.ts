import { sql } from "kysely";
import { disabledCode } from "../../domain/kills.ts";
import type { RunError } from "../../domain/run-error.ts";
import type { Activity, SourceActivity } from "../../operator/ports.ts";
import type { Database } from "./connection.ts";

interface Row {
  readonly source: string;
  readonly last_ms: number;
  readonly error_ms: number | null;
  readonly summary: string | null;
  readonly deployment: string | null;
}

/** One probe of the runs' index for each source, and a look at its kept runs (a few hundred) only for those that have run. */
export function createActivity({ db }: Database): Activity {
  return {
    async since(known) {
      if (known.length === 0) return [];
      const sources = known.map(({ source }) => source);
      const times = known.map(({ lastRunAt }) => lastRunAt);
      const { rows } = await sql<Row>`
        select asked.source, last.started_ms as last_ms, failed.started_ms as error_ms, failed.summary, failed.deployment
        from unnest(${sources}::text[], ${times}::bigint[]) as asked (source, known_ms)
        cross join lateral (select started_ms from runs where source = asked.source order by n desc limit 1) last
        left join lateral (
          select started_ms, summary, deployment from runs where source = asked.source and failed and last.started_ms > asked.known_ms
          order by n desc limit 1
        ) failed on true
        where last.started_ms > asked.known_ms`.execute(db);
      return rows.map(({ source, last_ms, error_ms, summary, deployment }) => ({
        source,
        lastRunAt: Number(last_ms),
        lastErrorAt: error_ms === null ? undefined : Number(error_ms),
        ...errorFields(summary, deployment),
      }));
    },
  };
}

/** Of a run's summary, which we wrote. */
function errorFields(summary: string | null, deployment: string | null): Pick<SourceActivity, "lastError" | "disabled"> {
  const { error } = JSON.parse(summary ?? "{}") as { readonly error?: RunError | null };
  if (error === undefined || error === null) return { lastError: undefined };
  const lastError = `${error.name}: ${error.message}`.split("\n")[0];
  return error.code === disabledCode && deployment !== null ? { lastError, disabled: deployment } : { lastError };
}

import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Attempt } from "../../../delivery/record/ports.ts";
import type { WebhookFailures } from "../../../domain/delivery/webhook-failures.ts";
import type { WebhookOutcomes } from "../../../domain/delivery/webhook-health.ts";
import { maxOutcomes, outcomesWindowMs, type Failures, type RecentOutcomes } from "../../../domain/outcomes.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { firstLine } from "../../../domain/source/source-health.ts";
import type { Database } from "../connection.ts";
import type { Tables } from "../tables.ts";

/** `known`: position of the last one that the caller has seen, see {@link RecentOutcomes}; without a later one, an item is absent. */
export interface Outcomes {
  /** By webhook; one without attempts since `since` (epoch ms) is absent. Attempts of tests do not count. */
  webhooks(
    asked: readonly { readonly webhook: string; readonly since: number; readonly known?: number }[],
    now: number,
  ): Promise<ReadonlyMap<string, WebhookOutcomes>>;
  /** By workflow; one without ended runs of the version is absent. Canceled runs do not count. */
  workflows(
    asked: readonly { readonly workflow: string; readonly deployment: string; readonly known?: number }[],
    now: number,
  ): Promise<ReadonlyMap<string, RecentOutcomes>>;
}

interface Row {
  readonly id: string;
  readonly last: number;
  readonly total: number;
  readonly failed: number;
  readonly failed_ms: number | null;
  readonly failing: number;
  readonly failing_ms: number | null;
  /** Text of the last failed one. */
  readonly failure: string | null;
}

/** One query for all: it probes the last row of each, and reads the newest 100 of those that have a later one. */
export function createOutcomes({ db }: Pick<Database, "db">): Outcomes {
  return {
    async webhooks(asked, now) {
      if (asked.length === 0) return new Map();
      const ids = asked.map(({ webhook }) => webhook);
      const given = sql`
        unnest(${ids}::text[], ${asked.map(({ since }) => since)}::bigint[], ${asked.map(knownOf)}::bigint[]) as asked (id, since_ms, known)
        where (select n from attempts where webhook = asked.id and source <> asked.id order by n desc limit 1) > asked.known`;
      const newest = sql`
        select n, n as last, at_ms, position('"outcome":"delivered"' in record) = 0 as failed, record as failure from attempts
        where webhook = asked.id and source <> asked.id and at_ms >= asked.since_ms order by n desc limit ${maxOutcomes}`;
      const [rows, failures] = await Promise.all([
        recentOf(db, given, newest, now),
        sql<{ webhook: string; record: string }>`select webhook, record from failing_endpoints where webhook = any(${ids}::text[])`.execute(
          db,
        ),
      ]);
      // Written by failing-endpoints.ts from this type.
      const known = new Map(failures.rows.map(({ webhook, record }) => [webhook, JSON.parse(record) as WebhookFailures]));
      return new Map(rows.map((row) => [row.id, { ...outcomesFrom(row, attemptError), failures: known.get(row.id) }]));
    },
    async workflows(asked, now) {
      if (asked.length === 0) return new Map();
      const ids = asked.map(({ workflow }) => workflow);
      const deployments = asked.map(({ deployment }) => deployment);
      const ended = sql`workflow = asked.id and deployment = asked.deployment and status in ('succeeded', 'exited', 'failed') order by n desc`;
      const given = sql`
        unnest(${ids}::text[], ${deployments}::text[], ${asked.map(knownOf)}::bigint[]) as asked (id, deployment, known)
        where (select ended_ms from workflow_runs where ${ended} limit 1) > asked.known`;
      const newest = sql`
        select n, ended_ms as last, ended_ms as at_ms, status = 'failed' as failed, error as failure from workflow_runs where ${ended} limit ${maxOutcomes}`;
      const rows = await recentOf(db, given, newest, now);
      return new Map(rows.map((row) => [row.id, outcomesFrom(row, runError)]));
    },
  };
}

const knownOf = ({ known = -1 }: { readonly known?: number }): number => known;

/**
 * @param given `unnest(…) as asked (id, …) where …`
 * @param newest a select of `n`, `last` (the position), `at_ms`, `failed` and `failure`, newest first
 */
async function recentOf(db: Kysely<Tables>, given: RawBuilder<unknown>, newest: RawBuilder<unknown>, now: number): Promise<readonly Row[]> {
  const isRecent = sql`at_ms >= ${now - outcomesWindowMs}`;
  const { rows } = await sql<Row>`
    select asked.id, max(last) as last, count(*) filter (where ${isRecent}) as total,
      count(*) filter (where failed and ${isRecent}) as failed, min(at_ms) filter (where failed and ${isRecent}) as failed_ms,
      count(*) filter (where not has_succeeded) as failing, min(at_ms) filter (where not has_succeeded) as failing_ms,
      (array_agg(failure order by n desc) filter (where failed))[1] as failure
    from (select * from ${given}) asked cross join lateral (
      select *, bool_or(not failed) over (order by n desc) as has_succeeded from (${newest}) newest
    ) outcome
    group by asked.id`.execute(db);
  return rows;
}

type ErrorText = RecentOutcomes["lastError"];

function outcomesFrom(row: Row, errorOf: (failure: string) => ErrorText): RecentOutcomes {
  const failures = (count: number, since: number | null): Failures | undefined => (since === null ? undefined : { count, since });
  return {
    position: row.last,
    total: row.total,
    failed: failures(row.failed, row.failed_ms),
    failing: failures(row.failing, row.failing_ms),
    lastError: row.failure === null ? undefined : errorOf(row.failure),
  };
}

/** Written by deliveries.ts from this type. */
function attemptError(record: string): ErrorText {
  const { error, status } = JSON.parse(record) as Attempt;
  return { name: "Error", message: firstLine(error ?? `status ${status}`) };
}

/** Written by workflows/record.ts from this type. */
function runError(text: string): ErrorText {
  const { name, message, code } = JSON.parse(text) as RunError;
  return { name: firstLine(name), message: firstLine(message), ...(code === undefined ? {} : { code }) };
}

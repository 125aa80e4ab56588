import { sql, type Kysely } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { Invariant, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { asUnavailable } from "../failures.ts";
import { firstMigrations, statements } from "./first-migrations.ts";
import { auditLogTable } from "./audit-log.ts";
import { errorMailTables } from "./error-mails.ts";
import { partitionHistory } from "../history/partitions.ts";
import { workflowRunTables } from "./workflow-runs.ts";
import { countResources } from "../resources/counts.ts";
import { keepSourceFacts } from "../resources/source-facts.ts";
import type { Tables } from "../tables.ts";

/** In order of name. Never change a released one. */
export const migrations: Record<string, Migration> = {
  ...firstMigrations,
  // Includes components built before, except those with U+0000 or an unpaired surrogate, which SQL cannot read: those must be built again.
  "2026-11-23-component-library": statements`
    alter table resources add column component jsonb;
    update resources set component = jsonb_build_object(
      'definition', (status -> 'build' -> 'definition')::jsonb,
      'codeHash', status -> 'build' ->> 'codeHash',
      'updatedAt', (status -> 'updatedAt')::jsonb
    )
    where kind = 'Component' and ended_at is null
      and case when status::text ~ '\\\\u(0000|d[89a-f])' then false else json_typeof(status -> 'build' -> 'definition') = 'object' end;
  `,
  // Existing keys keep all rights without expiry. An earlier version also creates such keys.
  "2026-11-24-owners": statements`
    alter table api_keys
      add column id text not null unique default ('pk_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)),
      add column scopes text[] not null default '{read,write}',
      add column expires_at timestamptz;
    alter table memberships add column role text not null default 'member' check (role in ('admin', 'member'));

    create table plans (
      name text primary key,
      form text not null check (form in ('free', 'paid')),
      daily_invocations bigint,
      daily_compute_ms bigint
    );
    insert into plans (name, form) values ('default', 'free');
    create table owner_plans (owner text primary key, plan text not null references plans);
  `,
  "2026-11-25-log-places": statements`
    alter table logs add column place integer;
  `,
  "2026-11-26-event-deletions": statements`
    create table event_deletions (
      n bigint generated always as identity primary key,
      source text not null,
      start_ms bigint,
      start_seq bigint,
      end_ms bigint,
      end_seq bigint,
      channel text,
      next_ms bigint not null,
      next_seq bigint not null,
      deleted bigint not null default 0,
      created_at timestamptz not null default now(),
      finished_at timestamptz
    );
    create index event_deletions_finished on event_deletions (finished_at) where finished_at is not null;
    create index event_deletions_of_source on event_deletions (source, n);
    create index event_deletions_pending on event_deletions (source, n) where finished_at is null;
  `,
  "2026-11-26-partitioned-history": partitionHistory,
  "2026-11-26-resource-counts": countResources,
  "2026-11-26-ticks": statements`
    create table ticks (
      source text not null,
      due_ms bigint not null,
      n bigint generated always as identity,
      run text,
      started_ms bigint,
      primary key (source, due_ms, n)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
  `,
  "2026-11-26-failing-endpoints": statements`
    create table failing_endpoints (
      webhook text primary key,
      disabled_ms bigint,
      record text not null
    );
    create index failing_endpoints_disabled on failing_endpoints (webhook) where disabled_ms is not null;
  `,
  // Usage of all owners of one day is read every second.
  "2026-11-26-quotas": statements`
    create index usage_of_day on usage (day_ms);
  `,
  "2026-11-27-plan-weights": statements`
    alter table plans add column weight integer not null default 1 check (weight between 1 and 100);
  `,
  "2026-11-28-scheduled-events": statements`
    create table scheduled_events (
      source text not null,
      ms bigint not null,
      seq bigint not null,
      emit_id text not null,
      channel text not null,
      dedupe_id text,
      summary text,
      ts bigint not null,
      payload text not null,
      run text not null,
      due_ms bigint not null,
      primary key (source, ms, seq)
    );
  `,
  // Existing organizations count towards no user's limit.
  "2026-11-29-organizations-of-users": statements`
    alter table organizations add column created_by text references users on delete set null;
    create index organizations_of_creator on organizations (created_by) where created_by is not null;
    alter table plans add column max_organizations integer not null default 20 check (max_organizations >= 0);
  `,
  "2026-11-30-source-facts": keepSourceFacts,
  // Recorders share the partitions of RUNS, which start at the stream's row in recorder_positions.
  "2026-12-01-recorder-partitions": statements`
    create table recorder_partitions (stream text, partition integer, seq bigint not null, primary key (stream, partition)) with (fillfactor = 10);
  `,
  "2026-12-02-workflow-runs": workflowRunTables,
  "2026-12-03-error-mails": errorMailTables,
  "2026-12-04-console-sessions": statements`
    create table console_sessions (
      token_hash text primary key,
      key_hash text not null references api_keys on delete cascade,
      is_link boolean not null,
      expires_at timestamptz not null
    );
  `,
  "2026-12-04-daily-use": statements`
    alter table usage add column events bigint not null default 0, add column deliveries bigint not null default 0;
  `,
  "2026-12-05-audit-log": auditLogTable,
};

/**
 * Migrates the tables. Concurrent processes are serialized by a lock.
 *
 * @throws Unavailable when Postgres is unreachable
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...(await newerMigrations(db)), ...migrations }) },
    migrationTableName: "headwater_migrations",
    migrationLockTableName: "headwater_migration_lock",
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "the list of migrations";
  const known = asUnavailable(error);
  if (known instanceof Unavailable) throw known;
  throw new Invariant(`migrating Postgres failed at ${failed}`, { cause: error });
}

interface Executed {
  readonly name: string;
}

/** After a rollback, newer migrations have already run. They are compatible, because migrations only add. */
async function newerMigrations(db: Kysely<Tables>): Promise<Record<string, Migration>> {
  const executed = await executedMigrations(db);
  return Object.fromEntries(executed.filter((name) => !(name in migrations)).map((name) => [name, { up: async () => undefined }]));
}

async function executedMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ made: boolean }>`select to_regclass('headwater_migrations') is not null as made`.execute(db);
  if (tables[0]?.made !== true) return [];
  const { rows } = await sql<Executed>`select name from headwater_migrations`.execute(db);
  return rows.map(({ name }) => name);
}

/** Error code that distinguishes missing migrations from a failing Postgres. */
export const notMigrated = "not_set_up";
const defaultTimeoutMs = 60_000;

/** For processes without rights to migrate: resolves once all migrations of this version have run. @throws Unavailable after a minute */
export async function untilMigrated(db: Kysely<Tables>, waitMs = defaultTimeoutMs): Promise<void> {
  const requireMigrations = async (): Promise<void> => {
    const executed = await executedMigrations(db).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    const missing = Object.keys(migrations).filter((name) => !executed.includes(name));
    if (missing.length > 0)
      throw new Unavailable(
        `the tables in Postgres lack changes of this version (${missing.join(", ")}), after ${waitMs / 1000} s of waiting: run setup of this version (npm start -- --setup); in a cluster look at the Job headwater-setup`,
        { code: notMigrated },
      );
  };
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code === notMigrated;
  await retry(requireMigrations, { firstMs: 500, withinMs: waitMs, isTransient });
}

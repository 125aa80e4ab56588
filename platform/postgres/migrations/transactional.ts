import type { Migration } from "kysely/migration";
import { firstMigrations, statements } from "./first-migrations.ts";
import { auditLogTable, observedChanges } from "./audit-log.ts";
import { errorMailTables } from "./error-mails.ts";
import { partitionHistory } from "../history/partitions.ts";
import { connectionsTable } from "./connections.ts";
import { dataStoreTables } from "./data-stores.ts";
import { measuresTable } from "./measures.ts";
import { publicationsTable } from "./publications.ts";
import { workflowRunTables } from "./workflow-runs.ts";
import { countResources } from "./resource-counts.ts";
import { keepSourceFacts } from "./source-facts.ts";

/** In order. Each is one transaction, and only adds. Never change one that was released. */
export const transactionalMigrations: Record<string, Migration> = {
  ...firstMigrations,
  // Includes components built before, except those with U+0000 or an unpaired surrogate, which SQL cannot read: those must be built again.
  "m0006-component-library": statements`
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
  "m0007-owners": statements`
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
  "m0008-log-places": statements`
    alter table logs add column place integer;
  `,
  "m0009-event-deletions": statements`
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
  "m0010-partitioned-history": partitionHistory,
  "m0011-resource-counts": countResources,
  "m0012-ticks": statements`
    create table ticks (
      source text not null,
      due_ms bigint not null,
      n bigint generated always as identity,
      run text,
      started_ms bigint,
      primary key (source, due_ms, n)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
  `,
  "m0013-failing-endpoints": statements`
    create table failing_endpoints (
      webhook text primary key,
      disabled_ms bigint,
      record text not null
    );
    create index failing_endpoints_disabled on failing_endpoints (webhook) where disabled_ms is not null;
  `,
  // Usage of all owners of one day is read every second.
  "m0014-quotas": statements`
    create index usage_of_day on usage (day_ms);
  `,
  "m0015-plan-weights": statements`
    alter table plans add column weight integer not null default 1 check (weight between 1 and 100);
  `,
  "m0016-scheduled-events": statements`
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
  "m0017-organizations-of-users": statements`
    alter table organizations add column created_by text references users on delete set null;
    create index organizations_of_creator on organizations (created_by) where created_by is not null;
    alter table plans add column max_organizations integer not null default 20 check (max_organizations >= 0);
  `,
  "m0018-source-facts": keepSourceFacts,
  // Recorders share the partitions of RUNS, which start at the stream's row in recorder_positions.
  "m0019-recorder-partitions": statements`
    create table recorder_partitions (stream text, partition integer, seq bigint not null, primary key (stream, partition)) with (fillfactor = 10);
  `,
  "m0020-workflow-runs": workflowRunTables,
  "m0021-error-mails": errorMailTables,
  "m0022-console-sessions": statements`
    create table console_sessions (
      token_hash text primary key,
      key_hash text not null references api_keys on delete cascade,
      is_link boolean not null,
      expires_at timestamptz not null
    );
  `,
  "m0023-daily-use": statements`
    alter table usage add column events bigint not null default 0, add column deliveries bigint not null default 0;
  `,
  "m0024-audit-log": auditLogTable,
  "m0025-observed-changes": observedChanges,
  "m0026-publications": publicationsTable,
  "m0027-invitations": statements`
    create table invitations (
      id text primary key,
      organization_id text not null references organizations on delete cascade,
      named_by text not null check (named_by in ('user_id', 'username', 'email')),
      invitee text not null,
      role text not null check (role in ('admin', 'member')),
      created_at timestamptz not null,
      expires_at timestamptz not null,
      unique (organization_id, named_by, invitee)
    );
    create index invitations_to on invitations (named_by, invitee);
  `,
  "m0028-mail-counts": statements`
    create table mail_counts (
      scope text not null,
      day_ms bigint not null,
      mails integer not null,
      primary key (scope, day_ms)
    ) with (fillfactor = 50);
  `,
  // Addresses that exist already are not confirmed: their holders may never have agreed to get mails.
  "m0029-email-confirmations": statements`
    alter table users add column email_confirmed_at timestamptz;
    alter table organizations add column email_confirmed_at timestamptz;
    create table email_confirmations (
      owner text primary key,
      email text not null,
      state text not null default 'due' check (state in ('due', 'sending', 'sent', 'refused')),
      due_ms bigint not null,
      failures integer not null default 0,
      token_hash text unique,
      expires_ms bigint,
      reason text
    ) with (fillfactor = 50);
    create index email_confirmations_due on email_confirmations (due_ms) where state = 'due';
  `,
  // Namespaces that are in use stay in use: the operator replaces the row, see platform/postgres/namespaces/confirmations.ts.
  "m0030-owner-namespaces": statements`
    create table owner_namespaces (
      owner text not null,
      namespace text not null,
      confirmed_ms bigint not null,
      primary key (owner, namespace)
    );
    insert into owner_namespaces (owner, namespace, confirmed_ms) values ('*', '*', extract(epoch from now()) * 1000);
  `,
  // No version from here on reads what m0025-observed-changes has added: a later migration may drop it.
  "m0031-no-observed-changes": statements`select 1;`,
  "m0032-connections": connectionsTable,
  "m0033-repeated-runs": statements`alter table workflow_runs add column repeats text;`,
  "m0034-reasons-of-ticks": statements`alter table ticks add column reason text;`,
  "m0035-data-stores": dataStoreTables,
  "m0036-versions-of-operations": statements`
    alter table data_store_operations add column version bigint not null default 0;
    create index data_store_operations_by_version on data_store_operations (store, version);
  `,
  "m0037-measures": measuresTable,
};

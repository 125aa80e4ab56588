import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export function statements(text: TemplateStringsArray): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(text.join("")).execute(db);
    },
  };
}

/** The first migrations, in order. */
export const firstMigrations: Record<string, Migration> = {
  "m0001-resources": statements`
    create table resource_head (
      only_row boolean primary key default true check (only_row),
      version bigint not null,
      pruned_version bigint not null
    ) with (fillfactor = 10);
    insert into resource_head (version, pruned_version) values (1, 0);

    create table resources (
      kind text not null,
      namespace text not null,
      name text not null,
      uid uuid not null,
      resource_version bigint not null,
      created_version bigint not null,
      generation bigint not null,
      created_at timestamptz not null,
      deletion_timestamp timestamptz,
      finalizers text[] not null,
      labels jsonb not null,
      annotations jsonb not null,
      spec json not null,
      status json not null,
      mirrored_version text,
      name_slug text,
      public_id text generated always as (labels ->> 'headwater.dev/id') stored,
      owner text generated always as (labels ->> 'headwater.dev/owner') stored,
      code_hash text generated always as (labels ->> 'headwater.dev/code-hash') stored,
      component_key text generated always as (labels ->> 'headwater.dev/component-key') stored
    );
    -- Most selective last: on a table without statistics all indexes look alike, and Postgres takes the youngest that fits.
    create index resources_by_version on resources (kind, resource_version);
    create index resources_newest on resources (kind, created_version desc);
    create index resources_newest_in_namespace on resources (kind, namespace, created_version desc);
    create index resources_page on resources (kind, namespace, created_at desc, name desc);
    create index resources_by_slug on resources (kind, namespace, name_slug text_pattern_ops) where name_slug is not null;
    create index resources_by_code_hash on resources (kind, namespace, code_hash) where code_hash is not null;
    create index resources_by_component_key on resources (kind, namespace, component_key) where component_key is not null;
    create index resources_by_id on resources (public_id, kind);
    alter table resources add primary key (name, namespace, kind);

    create table resource_tombstones (
      kind text not null,
      resource_version bigint not null,
      namespace text not null,
      name text not null,
      uid uuid not null,
      created_version bigint not null,
      generation bigint not null,
      created_at timestamptz not null,
      deletion_timestamp timestamptz,
      finalizers text[] not null,
      labels jsonb not null,
      annotations jsonb not null,
      spec json not null,
      status json not null,
      mirrored_version text,
      public_id text generated always as (labels ->> 'headwater.dev/id') stored,
      deleted_at timestamptz not null default now(),
      primary key (kind, resource_version)
    );
    create index resource_tombstones_by_age on resource_tombstones (deleted_at);
    create index resource_tombstones_by_id on resource_tombstones (kind, public_id);
  `,
  "m0002-accounts": statements`
    create table users (
      id text primary key,
      username text not null unique,
      email text not null unique,
      created_at timestamptz not null default now()
    );
    create table organizations (
      id text primary key,
      name text not null,
      orgname text not null unique,
      email text not null,
      created_at timestamptz not null default now()
    );
    create table memberships (
      organization_id text not null references organizations on delete cascade,
      user_id text not null references users on delete cascade,
      primary key (user_id, organization_id)
    );
    create index memberships_of_organization on memberships (organization_id);
    create table api_keys (
      key_hash text primary key,
      user_id text not null references users on delete cascade,
      prefix text not null,
      name text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      revoked_at timestamptz
    );
    create index api_keys_of_user on api_keys (user_id);
  `,
  "m0003-history": statements`
    create table recorder_positions (stream text primary key, seq bigint not null) with (fillfactor = 10);
    create table ended_sources (source text primary key, ended_at timestamptz not null default now());

    create table usage (
      owner text not null,
      day_ms bigint not null,
      runs bigint not null,
      compute_ms bigint not null,
      primary key (owner, day_ms)
    );

    create table events (
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
      primary key (source, ms, seq)
    ) with (autovacuum_vacuum_scale_factor = 0.05);

    create table runs (
      source text not null,
      id text not null,
      n bigint generated always as identity,
      owner text not null,
      deployment text not null,
      started_ms bigint not null,
      failed boolean not null,
      summary text not null,
      primary key (source, n)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index runs_by_id on runs (id);

    create table logs (
      source text not null,
      n bigint generated always as identity,
      run text not null,
      record text not null,
      primary key (source, n)
    ) with (autovacuum_vacuum_scale_factor = 0.05);

    create table attempts (
      webhook text not null,
      delivery text not null,
      attempt integer not null,
      n bigint generated always as identity,
      source text not null,
      event text not null,
      at_ms bigint not null,
      record text not null,
      primary key (webhook, n)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create unique index attempts_once on attempts (delivery, attempt);

    create table dead_letters (
      webhook text not null,
      delivery text not null,
      n bigint generated always as identity,
      source text not null,
      event text not null,
      died_ms bigint not null,
      record text not null,
      payload text not null,
      primary key (webhook, n)
    );
    create unique index dead_letters_once on dead_letters (delivery);
  `,
  "m0004-mirror": statements`
    alter table resources add column ended_at timestamptz;
    create index resources_ended on resources (ended_at) where ended_at is not null;
  `,
  "m0005-owned-resources": statements`
    alter table resources add column owner_references jsonb;
    alter table resource_tombstones add column owner_references jsonb;
    create index resources_owned on resources using gin (owner_references jsonb_path_ops) where owner_references is not null;
  `,
};

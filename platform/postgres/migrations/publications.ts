import { statements } from "./first-migrations.ts";

/**
 * Versions of components that admins published: see postgres/publications. Without `code`, a version was deleted: its number stays used.
 * `identity` is the hash of all of its code. `component` is read by lists, as in the table resources.
 */
export const publicationsTable = statements`
    create table publications (
      key text not null,
      version text not null,
      id text not null unique,
      identity text not null,
      code json,
      code_bytes integer not null,
      component jsonb not null,
      component_bytes integer not null,
      published_ms bigint not null,
      deprecated text,
      is_current boolean not null default false,
      primary key (key, version)
    );
    create unique index publications_current on publications (key) where is_current;
  `;

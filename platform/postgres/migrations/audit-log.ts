import { statements } from "./first-migrations.ts";

/** Who changed what: see postgres/audit. `n` orders lists; ids are random, because a sequence would reveal how many entries others have. */
export const auditLogTable = statements`
    create table audit_log (
      n bigint generated always as identity primary key,
      id text not null unique,
      at_ms bigint not null,
      owner text,
      operation text,
      action text not null,
      kind text not null,
      resource_id text,
      resource_name text,
      fields text[] not null,
      error text,
      actor text not null check (actor in ('user', 'admin', 'kubectl')),
      user_id text,
      key_id text,
      key_name text,
      session_id text,
      address text,
      field_manager text
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index audit_log_of_owner on audit_log (owner, n);
    create index audit_log_by_age on audit_log (at_ms);
  `;

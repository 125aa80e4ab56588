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

/** Changes by clients of the Kubernetes API, which versions before m0031 recorded. */
export const observedChanges = statements`
    alter table audit_log add column change text, add column write text, add column uid text, add column object text;
    create unique index audit_log_changes on audit_log (change) where change is not null;
    create index audit_log_writes on audit_log (write) where write is not null;
    create index audit_log_of_uid on audit_log (uid) where uid is not null;
    create table change_claims (change text primary key, at_ms bigint not null);
    create index change_claims_by_age on change_claims (at_ms);
    create table kubernetes_requests (
      id text primary key,
      object text not null,
      deletes boolean not null,
      started_ms bigint not null,
      ended_ms bigint not null,
      field_manager text not null,
      kubernetes_user text not null,
      address text
    );
    create index kubernetes_requests_of_object on kubernetes_requests (object, started_ms);
    create index kubernetes_requests_by_age on kubernetes_requests (started_ms);
  `;

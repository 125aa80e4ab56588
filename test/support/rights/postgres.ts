import type { DatabaseRole } from "../../../platform/postgres/roles.ts";

const everything = "select insert update delete";
/** Every role waits for the migrations of its version. */
const versions = { api: "select", operator: "select", delivery: "select" };

/**
 * What the user of each role may do with each table, as `select` or `select(columns)`. A role that is not named may do nothing with the table.
 * The user of backups may read all tables but the record of rights.
 */
export const postgresRights: Readonly<Record<string, Readonly<Partial<Record<Exclude<DatabaseRole, "backup">, string>>>>> = {
  api_keys: { api: everything },
  attempts: { api: "select delete", operator: "select(webhook,n,source,at_ms,record)", delivery: "select insert delete" },
  audit_log: { api: "select insert", delivery: "select(n,at_ms) delete" },
  change_claims: { delivery: "select(change,at_ms) delete" },
  console_sessions: { api: "select insert delete" },
  dead_letters: { api: "select delete", delivery: everything },
  disk_samples: { api: "select", delivery: "select(at_ms) insert delete" },
  email_confirmations: { api: everything, delivery: "select update delete" },
  ended_sources: { operator: "select insert update", delivery: "select delete" },
  error_mails: { operator: "insert", delivery: everything },
  event_deletions: { api: "select insert update", operator: "select(source) delete", delivery: "select update delete" },
  events: { api: "select delete", operator: "select(source) delete", delivery: "select insert update(owner) delete" },
  failing_endpoints: { api: "select(webhook,record)", operator: "select(webhook,disabled_ms,record) delete", delivery: everything },
  invitations: { api: everything },
  kubernetes_requests: { delivery: "select(id,started_ms) delete" },
  logs: { api: "select", operator: "select(source) delete", delivery: "select insert update(owner,at_ms) delete" },
  mail_counts: { api: "select insert update", delivery: everything },
  measures: { api: "select", delivery: "select insert update" },
  memberships: { api: everything, operator: "select(user_id,organization_id)" },
  organizations: { api: everything, delivery: "select(id,email,email_confirmed_at,error_mails)" },
  connections: { api: "select insert update delete" },
  data_stores: {
    api: everything,
    operator: "select(id,owner,name) insert(id,owner,name) update(owner,name) delete",
    delivery: "select update(entries,bytes,version)",
  },
  data_store_entries: { api: everything, delivery: everything },
  data_store_operations: { api: "select insert", delivery: "select insert delete" },
  owner_namespaces: { api: "select insert delete", operator: "select insert delete" },
  owner_plans: { api: everything, delivery: "select" },
  plans: { api: everything, delivery: "select" },
  publications: { api: "select insert update", operator: "select(key,version,code,is_current)" },
  recorder_partitions: { api: "select", delivery: "select insert update" },
  recorder_positions: { api: "select", delivery: "select insert update" },
  resource_counts: { api: "select", operator: "select" },
  resource_head: { api: "select update", operator: "select update" },
  resource_tombstones: { api: "select insert delete", operator: "select insert delete" },
  resources: { api: everything, operator: everything },
  runs: { api: "select", operator: "select(source,n,started_ms,failed,summary,deployment) delete", delivery: "select insert delete" },
  scheduled_events: { api: "select delete", operator: "select(source) delete", delivery: "select insert delete" },
  ticks: { api: "select", operator: "select(source) delete", delivery: "select insert delete" },
  usage: { api: "select", delivery: everything },
  users: { api: everything, delivery: "select(id,email,email_confirmed_at,error_mails)" },
  workflow_runs: { api: "select", operator: "select(workflow,n,deployment,status,ended_ms,error) delete", delivery: everything },
  workflow_steps: { api: "select", operator: "select(workflow) delete", delivery: "select insert delete" },
  headwater_migrations: versions,
  headwater_schema: versions,
};

/** Partitions on which roles have rights of their own. */
export const partitionRights: Readonly<Record<string, Readonly<Partial<Record<DatabaseRole, string>>>>> = Object.fromEntries(
  Array.from({ length: 24 }, (_, slot) => [`measures_${slot}`, { delivery: "truncate" }]),
);

/** Statements that no role may execute: none may change the schema, users or the server. */
export const refusedStatements = [
  "create table mine (n int)",
  "drop table events",
  "truncate runs",
  "truncate measures",
  "drop table ticks",
  "alter table users add column x int",
  "create role other superuser",
  "alter role headwater_api superuser",
  "insert into headwater_migrations (name, timestamp) values ('x', 'x')",
  "delete from headwater_migrations",
  "update headwater_schema set oldest_code = 0",
  "delete from headwater_schema",
  "update headwater_rights set rights = '{}'",
  "select * from pg_authid",
  "select pg_read_file('/etc/passwd')",
  "copy events to program 'true'",
];

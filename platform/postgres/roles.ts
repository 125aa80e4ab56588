import { sql, type Kysely } from "kysely";
import { z } from "zod";
import { advisoryLocks } from "./advisory-locks.ts";
import { Conflict, Invariant } from "../../domain/errors.ts";
import { asUnavailable } from "./failures.ts";
import { grantsTable, replaceRights } from "./granted-rights.ts";
import { formerTable, migrationsTable } from "./migrations/record.ts";
import { slotCount, slotTable } from "./measures/slots.ts";
import type { Tables } from "./tables.ts";

/** Roles of processes that have a user of Postgres each. `backup` is that of the CronJob. */
export const databaseRoles = ["api", "operator", "delivery", "backup"] as const;
export type DatabaseRole = (typeof databaseRoles)[number];

export const isDatabaseRole = (role: string): role is DatabaseRole => databaseRoles.some((known) => known === role);

/** Users belong to a whole server, so two installations on one server need different prefixes. */
export const defaultRolePrefix = "headwater_";
/** Needs no quotes in SQL, and leaves room for the role in 63 characters. */
export const rolePrefixPattern = /^[a-z_][a-z0-9_]{0,49}$/;

export const userOf = (role: DatabaseRole, prefix = defaultRolePrefix): string => `${prefix}${role}`;

const everything = "select, insert, update, delete";
const resources = {
  resource_head: "select, update",
  resources: everything,
  resource_counts: "select",
  resource_tombstones: "select, insert, delete",
} as const;

/** Slots of measures are emptied as a whole. */
const slotRights = Object.fromEntries(Array.from({ length: slotCount }, (_, slot) => [slotTable(slot), "truncate"]));

/** Rights of each role per table. No role may change the schema. A delete also reads the columns of its conditions. */
const rights: Readonly<Record<Exclude<DatabaseRole, "backup">, Readonly<Partial<Record<keyof Tables, string>>>>> = {
  /** Users, keys, plans and resources; of the history only lists, and the deletion of events. */
  api: {
    ...resources,
    users: everything,
    organizations: everything,
    memberships: everything,
    invitations: everything,
    api_keys: everything,
    console_sessions: "select, insert, delete",
    email_confirmations: "select, insert, update, delete",
    mail_counts: "select, insert, update",
    plans: everything,
    owner_plans: everything,
    events: "select, delete",
    scheduled_events: "select, delete",
    event_deletions: "select, insert, update",
    runs: "select",
    logs: "select",
    ticks: "select",
    workflow_runs: "select",
    workflow_steps: "select",
    recorder_positions: "select",
    recorder_partitions: "select",
    usage: "select",
    measures: "select",
    audit_log: "select, insert",
    attempts: "select, delete",
    dead_letters: "select, delete",
    failing_endpoints: "select (webhook, record)",
    publications: "select, insert, update",
    owner_namespaces: "select, insert, delete",
    connections: everything,
    disk_samples: "select",
    data_stores: everything,
    data_store_entries: everything,
    data_store_operations: "select, insert",
  },
  /**
   * Resources; deletion of a source's history, and its last run; the latest runs of workflows and attempts at webhooks; disabled webhooks;
   * memberships by id. No other personal data, no payloads.
   */
  operator: {
    ...resources,
    memberships: "select (user_id, organization_id)",
    ended_sources: "select, insert, update",
    events: "select (source), delete",
    scheduled_events: "select (source), delete",
    event_deletions: "select (source), delete",
    runs: "select (source, n, started_ms, failed, summary, deployment), delete",
    logs: "select (source), delete",
    ticks: "select (source), delete",
    workflow_runs: "select (workflow, n, deployment, status, ended_ms, error), delete",
    workflow_steps: "select (workflow), delete",
    attempts: "select (webhook, n, source, at_ms, record)",
    failing_endpoints: "select (webhook, disabled_ms, record), delete",
    publications: "select (key, version, code, is_current)",
    error_mails: "insert",
    owner_namespaces: "select, insert, delete",
    data_stores: "select (id, owner, name), insert (id, owner, name), update (owner, name), delete",
  },
  /** Writes the history; reads quotas, and where mails go. No other personal data except ids, no keys, no resources. */
  delivery: {
    recorder_positions: "select, insert, update",
    recorder_partitions: "select, insert, update",
    ended_sources: "select, delete",
    usage: everything,
    measures: "select, insert, update",
    ...slotRights,
    plans: "select",
    owner_plans: "select",
    events: "select, insert, update (owner), delete",
    scheduled_events: "select, insert, delete",
    event_deletions: "select, update, delete",
    runs: "select, insert, delete",
    logs: "select, insert, update (owner, at_ms), delete",
    ticks: "select, insert, delete",
    workflow_runs: everything,
    workflow_steps: "select, insert, delete",
    attempts: "select, insert, delete",
    dead_letters: "select, insert, update, delete",
    failing_endpoints: everything,
    error_mails: everything,
    mail_counts: everything,
    email_confirmations: "select, update, delete",
    audit_log: "select (n, at_ms), delete",
    change_claims: "select (change, at_ms), delete",
    kubernetes_requests: "select (id, started_ms), delete",
    disk_samples: "select (at_ms), insert, delete",
    data_stores: "select, update (entries, bytes, version)",
    data_store_entries: everything,
    data_store_operations: "select, insert, delete",
    users: "select (id, email, email_confirmed_at, error_mails)",
    organizations: "select (id, email, email_confirmed_at, error_mails)",
  },
};

export type RolePasswords = Readonly<Record<DatabaseRole, string>> & {
  /** Of the users' names. Default: {@link defaultRolePrefix}. */
  readonly prefix?: string | undefined;
};

/** Parses the file `database-passwords.json`. @throws Invariant without quoting the text */
export function parseRolePasswords(text: string): RolePasswords {
  const password = z.string().min(16);
  const passwords = { api: password, operator: password, delivery: password, backup: password };
  const shape = z.object({ ...passwords, prefix: z.string().regex(rolePrefixPattern).optional() });
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new Invariant(
      `the passwords of the database roles are damaged: they must be a JSON object with ${databaseRoles.join(", ")}, each of 16 or more characters`,
    );
  }
}

/**
 * Creates the roles' users, sets their passwords, and grants them the rights above, beside those of the version that was set up before. Call it
 * after `migrate`, as the tables' owner with the attribute CREATEROLE. Safe to repeat.
 * @throws Conflict when a user belongs to another installation, whose processes a new password would lock out
 */
export async function setUpRoles(db: Kysely<Tables>, passwords: RolePasswords): Promise<void> {
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${advisoryLocks.roles})`.execute(transaction);
      for (const role of databaseRoles) {
        const user = userOf(role, passwords.prefix);
        await requireOwn(transaction, user);
        await sql.raw(await userStatement(transaction, user, passwords[role])).execute(transaction);
        for (const [name, value] of Object.entries(sessionTimeouts))
          await sql.raw(`alter role ${user} set ${name} = '${value}'`).execute(transaction);
        await sql.raw(`comment on role ${user} is ${literal(await ownComment(transaction))}`).execute(transaction);
      }
      await grantRights(transaction, passwords.prefix);
    });
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Grants the roles' users, which must exist, the rights above. */
export async function grantRights(db: Kysely<Tables>, prefix?: string): Promise<void> {
  const all = Object.entries({ ...rights, backup: await readingAll(db) }).map(([role, own]) => [role, { ...records, ...own }] as const);
  await replaceRights(db, Object.fromEntries(all), (role) => `${prefix ?? defaultRolePrefix}${role}`);
}

/** A backup reads all tables and changes none. */
async function readingAll(db: Kysely<Tables>): Promise<Readonly<Record<string, string>>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> ${grantsTable}
    order by relname`.execute(db);
  return Object.fromEntries(rows.map(({ name }) => [name, "select"]));
}

/** Every role waits for the migrations of its version. */
const records = { [migrationsTable]: "select", [formerTable]: "select" } as const;

/** Only a superuser may mention these attributes of an existing user, even without changing them. The tables' owner need not be one. */
const noAttributes = "nosuperuser nocreatedb nocreaterole";

/** Also for sessions of a pooler, which have no settings of their client. */
const sessionTimeouts = { statement_timeout: "30s", idle_in_transaction_session_timeout: "60s" } as const;

const commentStart = "Headwater, database ";

async function ownComment(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  return commentStart + (rows[0]?.name ?? "");
}

/** The user's comment names the database of its installation. A database that no longer exists needs no user. */
async function requireOwn(db: Kysely<Tables>, user: string): Promise<void> {
  const { rows } = await sql<{ other: string }>`
    select datname as other from pg_roles, pg_database
    where rolname = ${user} and datname <> current_database()
      and shobj_description(pg_roles.oid, 'pg_authid') = ${commentStart} || datname`.execute(db);
  const other = rows[0]?.other;
  if (other === undefined) return;
  throw new Conflict(
    `the Postgres user ${user} belongs to the installation in the database '${other}' on the same server: choose another prefix for the users of this installation (postgres.rolePrefix in the chart, --role-prefix of install-secrets.ts)`,
    { code: "database_user_taken" },
  );
}

async function userStatement(db: Kysely<Tables>, user: string, password: string): Promise<string> {
  const login = `${user} login password ${literal(password)}`;
  const { rows } = await sql<{ mine: boolean; super: boolean }>`
    select rolname = current_user as mine, rolsuper as super from pg_roles where rolname in (current_user, ${user})`.execute(db);
  if (!rows.some(({ mine }) => !mine)) return `create role ${login} ${noAttributes}`;
  const isSuperuser = rows.some((row) => row.mine && row.super);
  return isSuperuser ? `alter role ${login} ${noAttributes}` : `alter role ${login}`;
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The URL of the same database for one of the roles. */
export function urlOfRole(url: string, role: DatabaseRole, passwords: RolePasswords): string {
  const own = new URL(url);
  own.username = userOf(role, passwords.prefix);
  own.password = encodeURIComponent(passwords[role]);
  return own.href;
}

/** Users of roles cannot migrate. On one machine, they have the default prefix. */
export const isRoleUrl = (url: string): boolean => databaseRoles.some((role) => userOf(role) === new URL(url).username);

import { sql, type Kysely } from "kysely";
import { z } from "zod";
import { Invariant } from "../../domain/errors.ts";
import { asUnavailable } from "./failures.ts";
import type { Tables } from "./tables.ts";

/** Users of Postgres, one per role of a process. */
export const databaseRoles = { api: "headwater_api", operator: "headwater_operator", delivery: "headwater_delivery" } as const;
export type DatabaseRole = keyof typeof databaseRoles;

export const isDatabaseRole = (role: string): role is DatabaseRole => Object.hasOwn(databaseRoles, role);

const everything = "select, insert, update, delete";
const resources = {
  resource_head: "select, update",
  resources: everything,
  resource_counts: "select",
  resource_tombstones: "select, insert, delete",
} as const;

/** Rights of each role per table. No role may change the schema. A delete also reads the columns of its conditions. */
const rights: Readonly<Record<DatabaseRole, Readonly<Partial<Record<keyof Tables, string>>>>> = {
  /** Users, keys, plans and resources; of the history only lists, and the deletion of events. */
  api: {
    ...resources,
    users: everything,
    organizations: everything,
    memberships: everything,
    api_keys: everything,
    console_sessions: "select, insert, delete",
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
    attempts: "select, delete",
    dead_letters: "select, delete",
  },
  /**
   * Resources; deletion of a source's history, and its last run; disabled webhooks; memberships by id. No other personal data, no payloads.
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
    workflow_runs: "select (workflow), delete",
    workflow_steps: "select (workflow), delete",
    failing_endpoints: "select (webhook, disabled_ms, record), delete",
  },
  /** Writes the history; reads quotas, and where mails go. No other personal data except ids, no keys, no resources. */
  delivery: {
    recorder_positions: "select, insert, update",
    recorder_partitions: "select, insert, update",
    ended_sources: "select, delete",
    usage: everything,
    plans: "select",
    owner_plans: "select",
    events: "select, insert, delete",
    scheduled_events: "select, insert, delete",
    event_deletions: "select, update, delete",
    runs: "select, insert, delete",
    logs: "select, insert, delete",
    ticks: "select, insert, delete",
    workflow_runs: everything,
    workflow_steps: "select, insert, delete",
    attempts: "select, insert, delete",
    dead_letters: "select, insert, update, delete",
    failing_endpoints: everything,
    error_mails: everything,
    users: "select (id, email, error_mails)",
    organizations: "select (id, email, error_mails)",
  },
};

/** Every role waits for the migrations of its version. */
const migrationsTable = "headwater_migrations";
/** Arbitrary; serializes concurrent migrations. */
const lock = 4_126_871_234;

export type RolePasswords = Readonly<Record<DatabaseRole, string>>;

/** Parses the file `database-passwords.json`. @throws Invariant without quoting the text */
export function parseRolePasswords(text: string): RolePasswords {
  const password = z.string().min(16);
  try {
    return z.object({ api: password, operator: password, delivery: password }).parse(JSON.parse(text));
  } catch {
    throw new Invariant("the passwords of the database roles are damaged: they must be a JSON object with api, operator and delivery");
  }
}

const roles = Object.keys(databaseRoles) as readonly DatabaseRole[]; // The literal's keys are its type's.

/**
 * Creates the roles' users, sets their passwords, and grants them exactly the rights above: rights that an older version granted beyond
 * these are revoked. Call it after `migrate`, as the tables' owner with the attribute CREATEROLE. Safe to repeat.
 */
export async function setUpRoles(db: Kysely<Tables>, passwords: RolePasswords): Promise<void> {
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${lock})`.execute(transaction);
      for (const role of roles) await sql.raw(await userStatement(transaction, role, passwords[role])).execute(transaction);
      await grantRights(transaction);
    });
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Grants the roles' users, which must exist, exactly the rights above. */
export async function grantRights(db: Kysely<Tables>): Promise<void> {
  for (const statement of roles.flatMap(grantStatements)) await sql.raw(statement).execute(db);
}

/** Only a superuser may mention these attributes of an existing user, even without changing them. The tables' owner need not be one. */
const noAttributes = "nosuperuser nocreatedb nocreaterole";

async function userStatement(db: Kysely<Tables>, role: DatabaseRole, password: string): Promise<string> {
  const login = `${databaseRoles[role]} login password ${literal(password)}`;
  const { rows } = await sql<{ mine: boolean; super: boolean }>`
    select rolname = current_user as mine, rolsuper as super from pg_roles where rolname in (current_user, ${databaseRoles[role]})`.execute(
    db,
  );
  if (!rows.some(({ mine }) => !mine)) return `create role ${login} ${noAttributes}`;
  const isSuperuser = rows.some((row) => row.mine && row.super);
  return isSuperuser ? `alter role ${login} ${noAttributes}` : `alter role ${login}`;
}

function grantStatements(role: DatabaseRole): readonly string[] {
  const user = databaseRoles[role];
  return [
    `revoke all on all tables in schema public from ${user}`,
    `grant usage on schema public to ${user}`,
    `grant select on ${migrationsTable} to ${user}`,
    ...Object.entries(rights[role]).map(([table, privileges]) => `grant ${privileges} on ${table} to ${user}`),
  ];
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The URL of the same database for one of the roles. */
export function urlOfRole(url: string, role: DatabaseRole, passwords: RolePasswords): string {
  const own = new URL(url);
  own.username = databaseRoles[role];
  own.password = encodeURIComponent(passwords[role]);
  return own.href;
}

/** Users of roles cannot migrate. */
export const isRoleUrl = (url: string): boolean => Object.values(databaseRoles).some((user) => user === new URL(url).username);

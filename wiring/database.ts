import { sql } from "kysely";
import { Invariant } from "../domain/errors.ts";
import { createDatabase, type Database, type DatabaseOptions } from "../platform/postgres/connection.ts";
import { openMigratedDatabase } from "../platform/postgres/migrated-database.ts";
import { isRoleUrl } from "../platform/postgres/roles.ts";
import { Shared } from "../platform/process/shared.ts";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import type { RoleContext } from "./context.ts";

/** By URL: roles of one process that are the same user share a pool. */
const databases = new Shared<string, Database>((database) => database.close());

/** In a cluster Postgres and the roles' users in it may become available after the role starts. */
const startWaitMs: Readonly<Record<Configuration["resources"], number>> = { postgres: 0, kubernetes: 60_000 };

/** Checks the database that this process has opened, if any. @throws Unavailable */
export async function checkDatabase(url: string): Promise<void> {
  const database = await databases.find(url);
  if (database !== undefined) await sql`select 1`.execute(database.db);
}

/** The process's pool of Postgres connections, with the tables of this version, until `opened` is disposed. @throws Unavailable */
export async function openDatabase(context: RoleContext, opened: AsyncDisposableStack): Promise<Database> {
  const url = urlOf(context);
  const { resources, setsUp } = context.configuration;
  // In a cluster only setup migrates: the roles have no right to.
  const migrates = (setsUp || resources === "postgres") && !isRoleUrl(url);
  return share(url, () => openMigratedDatabase({ ...optionsOf(context), migrates, waitMs: startWaitMs[resources] }), opened);
}

/** The same without waiting: statements fail until Postgres is available and migrated. */
export function openDatabaseAtOnce(context: RoleContext, opened: AsyncDisposableStack): Promise<Database> {
  const options = optionsOf(context);
  return share(options.url, () => Promise.resolve(createDatabase(options)), opened);
}

function optionsOf(context: RoleContext): Pick<DatabaseOptions, "url" | "tls" | "throughPooler"> {
  const { databaseTls, databasePooler } = context.configuration;
  return { url: urlOf(context), tls: databaseTls, throughPooler: databasePooler === "transaction" };
}

function urlOf({ databaseUrl }: RoleContext): string {
  if (databaseUrl === undefined) throw new Invariant("this role needs Postgres and was given no DATABASE_URL");
  return databaseUrl;
}

async function share(url: string, open: () => Promise<Database>, opened: AsyncDisposableStack): Promise<Database> {
  const { value, release } = await databases.use(url, open);
  opened.defer(release);
  return value;
}

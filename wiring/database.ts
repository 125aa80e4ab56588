import { sql } from "kysely";
import { Invariant, Unavailable } from "../domain/errors.ts";
import { retry } from "../domain/retry.ts";
import { createDatabase, type Database } from "../platform/postgres/connection.ts";
import { migrate, notMigrated, untilMigrated } from "../platform/postgres/migrations/migrations.ts";
import { isRoleUrl } from "../platform/postgres/roles.ts";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import type { RoleContext } from "./context.ts";
import { Shared } from "../platform/process/shared.ts";

/** By address: roles of one process share a pool when they are the same user. */
const databases = new Shared<string, Database>((database) => database.close());

/** @throws Unavailable when what this process has open there does not answer */
export async function checkDatabase(url: string): Promise<void> {
  const database = await databases.find(url);
  if (database !== undefined) await sql`select 1`.execute(database.db);
}

/**
 * The process's pool of Postgres connections, with the tables set up; `release` it when the role stops. With `waits: false` it is there at once, and
 * statements fail until Postgres answers and its tables are set up.
 */
export async function databaseOf(
  context: RoleContext,
  { waits }: { readonly waits: boolean } = { waits: true },
): Promise<{ database: Database; release: () => Promise<void> }> {
  const { databaseUrl: url, configuration } = context;
  if (url === undefined) throw new Invariant("this role needs Postgres and was given no DATABASE_URL");
  const migrated = mayMigrate(configuration) && !isRoleUrl(url) ? migrate : (db: Database["db"]) => untilMigrated(db);
  const open = async (): Promise<Database> => (waits ? openMigrated() : createDatabase({ url }));
  const openMigrated = (): Promise<Database> => openDatabaseWithin(startWaitMs[configuration.resources], url, migrated);
  const { value: database, release } = await databases.use(url, open);
  return { database, release };
}

/** Unreachable, or a name or password that it does not know (SQLSTATE classes 28 and 3D); anything else is our mistake. */
function isTheirs(cause: unknown): cause is Error {
  if (cause instanceof Unavailable) return true;
  return cause instanceof Error && "code" in cause && /^(28|3D)/.test(String(cause.code));
}

/** In a cluster tables are made by setup alone: the roles have no right to. */
const mayMigrate = ({ resources, setsUp }: Configuration): boolean => setsUp || resources === "postgres";

/** In a cluster everything starts at once: Postgres and the roles' users in it may come a little later. */
const startWaitMs: Readonly<Record<Configuration["resources"], number>> = { postgres: 0, kubernetes: 60_000 };
const retryMs = 500;

async function openDatabaseWithin(waitMs: number, url: string, migrated: typeof migrate): Promise<Database> {
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code !== notMigrated;
  return retry(() => openDatabase(url, migrated), { firstMs: retryMs, withinMs: waitMs, isTransient });
}

async function openDatabase(url: string, migrated: typeof migrate): Promise<Database> {
  const database = createDatabase({ url });
  try {
    await migrated(database.db);
    return database;
  } catch (cause) {
    await database.close();
    if (!isTheirs(cause) || (cause instanceof Unavailable && cause.code === notMigrated)) throw cause;
    const { host, pathname } = new URL(url);
    throw new Unavailable(
      `cannot use Postgres at ${host}${pathname} (${cause.message}): start it there, or set DATABASE_URL to another; unset, one is started for you`,
      { cause },
    );
  }
}

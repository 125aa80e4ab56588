import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import { createDatabase, type Database, type DatabaseOptions } from "./connection.ts";
import { migrate, notMigrated, untilMigrated } from "./migrations/migrations.ts";

const retryMs = 500;

export interface MigratedDatabaseOptions extends Pick<DatabaseOptions, "url" | "tls" | "throughPooler"> {
  /** False: waits until another process has migrated the tables. */
  readonly migrates: boolean;
  /** How long to wait for Postgres, and for the roles' users in it. */
  readonly waitMs: number;
}

/** Opens a database whose tables are those of this version. @throws Unavailable */
export async function openMigratedDatabase(options: MigratedDatabaseOptions): Promise<Database> {
  const isTransient = (error: unknown): boolean => error instanceof Unavailable && error.code !== notMigrated;
  return retry(() => open(options), { firstMs: retryMs, withinMs: options.waitMs, isTransient });
}

async function open({ url, tls, throughPooler, migrates }: MigratedDatabaseOptions): Promise<Database> {
  const database = createDatabase({ url, tls, throughPooler });
  try {
    await (migrates ? migrateDatabase({ url, tls, throughPooler }) : untilMigrated(database.db));
    return database;
  } catch (cause) {
    await database.close();
    if (!isCausedByServer(cause) || (cause instanceof Unavailable && cause.code === notMigrated)) throw cause;
    const { host, pathname } = new URL(url);
    throw new Unavailable(
      `cannot use Postgres at ${host}${pathname} (${cause.message}): start it there, or set DATABASE_URL to another; unset, one is started for you`,
      { cause },
    );
  }
}

async function migrateDatabase(connection: Pick<MigratedDatabaseOptions, "url" | "tls" | "throughPooler">): Promise<void> {
  const database = createDatabase({ ...connection, connections: 1, hasSlowStatements: true, applicationName: "headwater migrations" });
  try {
    await migrate(database.db, { throughPooler: connection.throughPooler });
  } finally {
    await database.close();
  }
}

/** Postgres is unreachable, or rejects the user, the password or the database's name (SQLSTATE classes 28 and 3D). */
function isCausedByServer(cause: unknown): cause is Error {
  if (cause instanceof Unavailable) return true;
  return cause instanceof Error && "code" in cause && /^(28|3D)/.test(String(cause.code));
}

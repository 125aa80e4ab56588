import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { connect, type Connection } from "../platform/jetstream/connection.ts";
import { areSetUp, setUpStreams } from "../platform/jetstream/streams.ts";
import { createDatabase, type Database } from "../platform/postgres/connection.ts";
import { migrate, untilMigrated } from "../platform/postgres/migrations.ts";
import { isRoleUrl, parseRolePasswords, setUpRoles, type RolePasswords } from "../platform/postgres/roles.ts";
import type { Configuration } from "../platform/process/configuration.ts";
import { defaultPool, partitionCount } from "../domain/subjects.ts";
import { Invariant, Unavailable } from "../domain/errors.ts";
import type { RoleContext } from "./context.ts";
import { Shared } from "./shared.ts";

/** How long commits stay on RUNS: readers that were away for longer start from what is there. */
const runsMaxAgeMs = 24 * 3_600_000;
const setUpTimeoutMs = 60_000;

/** By what they were opened with: roles of one process share what they may share. */
const natsConnections = new Shared<object, Connection>((connection) => connection.close());
const databases = new Shared<string, Database>((database) => database.close());

/** The process's connection to NATS; `release` it when the role stops. */
export async function natsOf(context: RoleContext): Promise<{ connection: Connection; release: () => Promise<void> }> {
  const { value: connection, release } = await natsConnections.use(context.nats, () => openNats(context));
  return { connection, release };
}

async function openNats(context: RoleContext): Promise<Connection> {
  const connection = await connect({
    server: context.nats,
    name: `headwater ${context.configuration.roles.join(",")}`,
  });
  connection.onStatus((status) => context.logger.info({ op: "nats.status", status }, `nats is ${status}`));
  try {
    await streamsExist(connection);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Roles may start in any order and on any machine; the streams are set up by one that may, see `startRoles`, in a cluster by setup. */
async function streamsExist(connection: Connection): Promise<void> {
  const deadline = performance.now() + setUpTimeoutMs;
  while (!(await areSetUp(connection))) {
    if (performance.now() > deadline)
      throw new Unavailable(
        `the streams are not set up after ${setUpTimeoutMs / 1000} s: run setup (--setup), or start the operator, in a cluster look at the Job headwater-setup`,
      );
    await sleep(250);
  }
}

/** Asks what this process has open whether it is up. @throws Unavailable */
export async function checkConnections({ databaseUrl }: RoleContext): Promise<void> {
  const connections = await natsConnections.all();
  if (connections.some((connection) => connection.status() !== "connected")) throw new Unavailable("the message server cannot be reached");
  const database = await databases.find(databaseUrl ?? "");
  if (database !== undefined) await sql`select 1`.execute(database.db);
}

/** Makes or changes streams, buckets and tables, so that every role finds what it needs. */
export async function prepare(context: RoleContext): Promise<void> {
  const connection = await connect({ server: context.nats, name: "headwater set-up", requestTimeoutMs: setUpTimeoutMs });
  const replicas = context.configuration.natsReplicas;
  try {
    await setUpStreams(connection, { replicas, runsMaxAgeMs, partitions: partitionCount, pool: defaultPool });
  } finally {
    await connection.close();
  }
  if (context.databaseUrl === undefined) return;
  const { database, release } = await databaseOf(context);
  try {
    const passwords = context.databasePasswords ?? (await givenPasswords(context));
    if (passwords !== undefined) await setUpRoles(database.db, passwords);
  } finally {
    await release();
  }
}

/** Whoever sets up an installation is given the passwords of the roles' users beside the keys. */
async function givenPasswords(context: RoleContext): Promise<RolePasswords | undefined> {
  if (!context.configuration.setsUp) return undefined;
  const file = join(context.configuration.keysDirectory, "database-passwords.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Invariant(`${file} cannot be read: ${error.code}`, { cause: error });
  });
  return text === undefined ? undefined : parseRolePasswords(text);
}

/** The process's pool of Postgres connections, with the tables set up; `release` it when the role stops. */
export async function databaseOf(context: RoleContext): Promise<{ database: Database; release: () => Promise<void> }> {
  const { databaseUrl: url, configuration } = context;
  if (url === undefined) throw new Invariant("this role needs Postgres and was given no DATABASE_URL");
  const migrated = mayMigrate(configuration) && !isRoleUrl(url) ? migrate : untilMigrated;
  const open = (): Promise<Database> => openDatabaseWithin(startWaitMs[configuration.resources], url, migrated);
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
const tryEveryMs = 500;

async function openDatabaseWithin(waitMs: number, url: string, migrated: typeof migrate): Promise<Database> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      return await openDatabase(url, migrated);
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > deadline) throw error;
      await sleep(tryEveryMs);
    }
  }
}

async function openDatabase(url: string, migrated: typeof migrate): Promise<Database> {
  const database = createDatabase({ url });
  try {
    await migrated(database.db);
    return database;
  } catch (cause) {
    await database.close();
    if (!isTheirs(cause)) throw cause;
    const { host, pathname } = new URL(url);
    throw new Unavailable(
      `cannot use Postgres at ${host}${pathname} (${cause.message}): start it there, or set DATABASE_URL to another; unset, one is started for you`,
      { cause },
    );
  }
}

import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import { createDatabase } from "../../platform/postgres/connection.ts";
import { migrate } from "../../platform/postgres/migrations/migrations.ts";
import { grantRights, urlOfRole, type DatabaseRole } from "../../platform/postgres/roles.ts";
import { rolePasswords, setupUser } from "./postgres-users.ts";

export interface TestPostgres {
  /** URL of this test file's database, which exists from `beforeAll` on. */
  readonly url: string;
  /** The same database as its owner, the user of `--setup`, which is not a superuser. */
  readonly setupUrl: string;
  /** The same database as the user of a role, with the rights of {@link setUpRoles} or `grantRights`. */
  urlOf(role: DatabaseRole): string;
  /** A superuser's client, closed after the tests. */
  readonly client: pg.Client;
}

/** Creates an empty database for the test file that calls this at its top level. A connection that is left open fails the file. */
export const withPostgres = (): TestPostgres => withDatabaseFrom(async () => "template1");

/** As {@link withPostgres}, with all tables and the rights of all roles. The first file of a run migrates, the others copy its result. */
export const withMigratedPostgres = (): TestPostgres => withDatabaseFrom(migratedTemplate);

function withDatabaseFrom(createTemplate: (server: string) => Promise<string>): TestPostgres {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const server = inject("postgresUrl");
  const url = addressOf(server, name);
  let client: pg.Client;
  beforeAll(async () => {
    const template = await createTemplate(server);
    // Copying files takes an eighth of the CPU time of the default strategy, which writes each page to the WAL.
    const create = `create database ${name} owner ${setupUser.name} template ${template} strategy file_copy`;
    await onServer(server, (admin) => admin.query(create));
    client = new pg.Client(url);
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await onServer(server, async (admin) => {
      const left = await openConnections(admin, name);
      await admin.query(`drop database ${name} with (force)`);
      if (left > 0) throw new Error(`${left} connection(s) to Postgres were left open`);
    });
  });
  return {
    url,
    setupUrl: setupUrlOf(url),
    urlOf: (role) => urlOfRole(url, role, rolePasswords),
    get client() {
      return client;
    },
  };
}

/** Arbitrary; makes files that need the template at the same time wait for the one that creates it. */
const templateLock = 4_126_871_235;

/** Returns the name of a database of this run that has been migrated, and creates it if it does not exist yet. */
async function migratedTemplate(server: string): Promise<string> {
  const name = inject("migratedTemplate");
  await onServer(server, async (admin) => {
    await admin.query("select pg_advisory_lock($1)", [templateLock]);
    const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
    if (rowCount !== 0) return;
    await admin.query(`create database ${name} owner ${setupUser.name} strategy file_copy`);
    try {
      await createTables(setupUrlOf(addressOf(server, name)));
      // Postgres copies no database to which another session is connected, such as one of autovacuum.
      await admin.query(`alter database ${name} allow_connections false`);
    } catch (error) {
      await admin.query(`drop database ${name} with (force)`);
      throw error;
    }
  });
  return name;
}

async function createTables(setupUrl: string): Promise<void> {
  const owner = createDatabase({ url: setupUrl });
  try {
    await migrate(owner.db);
    await grantRights(owner.db);
  } finally {
    await owner.close();
  }
}

function addressOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function setupUrlOf(url: string): string {
  const own = new URL(url);
  own.username = setupUser.name;
  own.password = setupUser.password;
  return own.href;
}

async function onServer(url: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client(url);
  await admin.connect();
  try {
    await use(admin);
  } finally {
    await admin.end();
  }
}

/** Counts connections. The server notices a closed socket later than the client, so this waits up to a deadline. */
async function openConnections(admin: pg.Client, database: string): Promise<number> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { rows } = await admin.query<{ open: number }>("select count(*)::int as open from pg_stat_activity where datname = $1", [
      database,
    ]);
    const open = rows[0]?.open ?? 0;
    if (open === 0 || Date.now() > deadline) return open;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

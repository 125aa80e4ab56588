import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import { urlOfRole, type DatabaseRole } from "../../platform/postgres/roles.ts";
import { rolePasswords, setupUser } from "./postgres-users.ts";

export interface TestPostgres {
  /** URL of an empty database for this test file; available from `beforeAll` on. */
  readonly url: string;
  /** The same database as its owner, the user of `--setup`, which is not a superuser. */
  readonly setupUrl: string;
  /** The same database as the user of a role, with the rights of {@link setUpRoles} or `grantRights`. */
  urlOf(role: DatabaseRole): string;
  /** A superuser's client, closed after the tests. */
  readonly client: pg.Client;
}

/** Creates a database for the test file that calls this at its top level. A connection that is left open fails the file. */
export function withPostgres(): TestPostgres {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const server = inject("postgresUrl");
  const url = addressOf(server, name);
  let client: pg.Client;
  beforeAll(async () => {
    await onServer(server, (admin) => admin.query(`create database ${name} owner ${setupUser.name}`));
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
  const deadline = Date.now() + 2_000;
  for (;;) {
    const { rows } = await admin.query<{ open: number }>("select count(*)::int as open from pg_stat_activity where datname = $1", [
      database,
    ]);
    const open = rows[0]?.open ?? 0;
    if (open === 0 || Date.now() > deadline) return open;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import { urlOfRole, type DatabaseRole } from "../../platform/postgres/roles.ts";
import { rolePasswords, setupUser } from "./postgres-users.ts";

export interface TestPostgres {
  /** Address of a database of this test file's own, empty at first; available from `beforeAll` on. */
  readonly url: string;
  /** The same as its owner, who is no superuser: what `--setup` connects as. */
  readonly setupUrl: string;
  /** The same as the user of a role. It may do what {@link setUpRoles} or `grantRights` gave it here. */
  urlOf(role: DatabaseRole): string;
  /** A client of a superuser connected to it, closed after the tests. */
  readonly client: pg.Client;
}

/** A fresh database for the test file that calls this at its top level, on the one server of the run. A connection left open fails the file. */
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

/** The server notices a closed socket a moment after the client: hence the deadline. */
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

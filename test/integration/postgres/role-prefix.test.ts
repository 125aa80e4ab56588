import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { databaseRoles, setUpRoles, urlOfRole, type RolePasswords } from "../../../platform/postgres/roles.ts";
import { withPostgres } from "../../support/postgres.ts";

const passwordsOf = (prefix: string): RolePasswords => ({
  api: `${prefix} password of the api`,
  operator: `${prefix} password of the operator`,
  delivery: `${prefix} password of delivery`,
  backup: `${prefix} password of backups`,
  prefix,
});

/** Each with a database on the same server, and with the same user for setup. */
describe("two installations on one Postgres server", () => {
  const [first, second] = [withPostgres(), withPostgres()];
  const unique = `t${process.pid}_`;
  const [ours, theirs] = [passwordsOf(`${unique}a_`), passwordsOf(`${unique}b_`)];
  const opened: Database[] = [];

  const open = (url: string): Database => {
    const database = createDatabase({ url });
    opened.push(database);
    return database;
  };
  beforeAll(async () => {
    for (const [{ setupUrl }, passwords] of [
      [first, ours],
      [second, theirs],
    ] as const) {
      const { db } = open(setupUrl);
      await migrate(db);
      await setUpRoles(db, passwords);
    }
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    for (const [{ client }, { prefix }] of [
      [first, ours],
      [second, theirs],
    ] as const)
      for (const role of databaseRoles) await client.query(`drop owned by ${prefix}${role}; drop role ${prefix}${role}`);
  });

  it("have their own users, which read the tables of their installation only", async () => {
    const [own, foreign] = [urlOfRole(first.url, "api", ours), urlOfRole(second.url, "api", ours)];
    expect(new URL(own).username).toBe(`${unique}a_api`);
    expect(await open(own).db.selectFrom("users").selectAll().execute()).toEqual([]);
    await expect(open(foreign).db.selectFrom("users").selectAll().execute()).rejects.toThrow(/permission denied/);
  });

  it("limit the time of their users' statements, also behind a pooler", async () => {
    const database = createDatabase({ url: urlOfRole(first.url, "delivery", ours), throughPooler: true });
    opened.push(database);
    const { rows } = await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(database.db);
    expect(rows).toEqual([{ limit: "30s" }]);
  });

  it("refuse the users of the other one, and leave their passwords unchanged", async () => {
    await expect(setUpRoles(open(second.setupUrl).db, ours)).rejects.toThrow(
      new RegExp(`the Postgres user ${unique}a_api belongs to the installation in the database 'test_\\w+'.*choose another prefix`),
    );
    expect(
      await open(urlOfRole(first.url, "delivery", ours))
        .db.selectFrom("error_mails")
        .selectAll()
        .execute(),
    ).toEqual([]);
  });

  it("set up their own users again", async () => {
    await setUpRoles(open(first.setupUrl).db, { ...ours, api: "a new password of the api" });
    const changed = urlOfRole(first.url, "api", { ...ours, api: "a new password of the api" });
    expect(await open(changed).db.selectFrom("users").selectAll().execute()).toEqual([]);
  });
});

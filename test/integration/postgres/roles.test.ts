import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { openSnapshot } from "../../../platform/postgres/backup.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { migrate, untilMigrated } from "../../../platform/postgres/migrations/migrations.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { databaseRoles, isRoleUrl, setUpRoles, type DatabaseRole } from "../../../platform/postgres/roles.ts";
import { withPostgres } from "../../support/postgres.ts";
import { rolePasswords } from "../../support/postgres-users.ts";

/** Each role's own user on a real Postgres: operations outside its rights are tried. */
const postgres = withPostgres();
const clients = new Map<DatabaseRole, pg.Client>();
const databases: Database[] = [];

const databaseOf = (url: string): Database => {
  const database = createDatabase({ url });
  databases.push(database);
  return database;
};
const { urlOf } = postgres;

beforeAll(async () => {
  const { db } = databaseOf(postgres.setupUrl);
  await migrate(db);
  await Promise.all([setUpRoles(db, rolePasswords), setUpRoles(db, rolePasswords)]);
  for (const role of databaseRoles) {
    const client = new pg.Client(urlOf(role));
    await client.connect();
    clients.set(role, client);
  }
});
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.end()));
  await Promise.all(databases.map((database) => database.close()));
});

const all = ["users", "organizations", "memberships", "api_keys"] as const;
const forbidden: Readonly<Record<DatabaseRole, readonly string[]>> = {
  api: [
    "insert into events (source, ms, seq, emit_id, channel, ts, payload, run) values ('dc_1', 1, 1, 'e', '', 1, '{}', 'r_1')",
    "update events set payload = '{}'",
    "insert into runs (source, id, owner, deployment, started_ms, failed, summary) values ('dc_1', 'r', 'u', 'd', 1, false, '{}')",
    "delete from runs",
    "delete from logs",
    "delete from ticks",
    "delete from workflow_runs",
    "update workflow_runs set status = 'succeeded'",
    "delete from workflow_steps",
    "insert into dead_letters (webhook, delivery, source, event, died_ms, record, payload) values ('w', 'd', 's', 'e', 1, '', '')",
    "update recorder_positions set seq = 0",
    "update recorder_partitions set seq = 0",
  ],
  operator: [
    ...all.filter((table) => table !== "memberships").map((table) => `select * from ${table}`),
    ...all.map((table) => `delete from ${table}`),
    "insert into memberships (user_id, organization_id) values ('u_1', 'o_1')",
    "update memberships set organization_id = 'o_2'",
    "insert into api_keys (key_hash, user_id, prefix, name) values ('h', 'u', 'p', 'n')",
    "select payload from events",
    "select record from logs",
    "select event from workflow_runs",
    "select inputs from workflow_steps",
    "select * from attempts",
    "select * from dead_letters",
    "insert into events (source, ms, seq, emit_id, channel, ts, payload, run) values ('dc_1', 1, 1, 'e', '', 1, '{}', 'r_1')",
    "update recorder_positions set seq = 0",
    "update recorder_partitions set seq = 0",
  ],
  delivery: [
    ...all.flatMap((table) => [`select * from ${table}`, `delete from ${table}`]),
    "select username from users",
    "select created_by from organizations",
    "update users set error_mails = true",
    "update organizations set email = 'x'",
    "select spec from resources",
    "update resources set spec = '{}'",
    "delete from resource_tombstones",
    "update resource_head set version = 0",
  ],
  backup: [
    ...all.map((table) => `delete from ${table}`),
    "update users set error_mails = true",
    "delete from resources",
    "update resources set spec = '{}'",
    "delete from events",
    "update headwater_rights set rights = '{}'",
  ],
};
const everybody = [
  "create table mine (n int)",
  "drop table events",
  "truncate runs",
  "drop table ticks",
  "alter table users add column x int",
  "create role other superuser",
  "alter role headwater_api superuser",
  "insert into headwater_migrations (name, timestamp) values ('x', 'x')",
  "delete from headwater_migrations",
  "update headwater_schema set oldest_code = 0",
  "delete from headwater_schema",
  "select * from pg_authid",
  "select pg_read_file('/etc/passwd')",
  "copy events to program 'true'",
];

describe.each(databaseRoles)("the user of %s", (role) => {
  it.each([...forbidden[role], ...everybody])("cannot '%s'", async (statement) => {
    await expect(clients.get(role)?.query(statement)).rejects.toMatchObject({ code: "42501" });
  });

  it("finds the tables of its version", async () => {
    expect(isRoleUrl(urlOf(role))).toBe(true);
    await untilMigrated(databaseOf(urlOf(role)).db);
  });
});

it("a backup reads the rows of all tables as its own user", async () => {
  const snapshot = await openSnapshot({ url: urlOf("backup"), tls: undefined, throughPooler: false });
  const own = await openSnapshot({ url: postgres.setupUrl, tls: undefined, throughPooler: false });
  expect(snapshot.tables).toEqual(own.tables);
  expect(snapshot.tables.length).toBeGreaterThan(25);
  for (const table of snapshot.tables) for await (const chunk of snapshot.rows(table)) expect(chunk).toBeInstanceOf(Uint8Array);
  await Promise.all([snapshot.close(), own.close()]);
});

it("each role does its own work as its own user", async () => {
  const accounts = createAccounts(databaseOf(urlOf("api")));
  await accounts.createUser({ id: "u_1", username: "one", email: "one@example.com" });
  await accounts.createOrganization({ id: "o_1", name: "One", orgname: "one", email: "one@example.com" }, ["u_1"]);
  const memberships = createAccounts(databaseOf(urlOf("operator")));
  expect([await memberships.isMember("u_1", "o_1"), await memberships.isMember("u_1", "o_2")]).toEqual([true, false]);
  const recorder = createHistory(databaseOf(urlOf("delivery")), { kept: { events: 10, logs: 10 } });
  expect(new Set(await recorder.readPositions("RUNS"))).toEqual(new Set([0]));
  await recorder.sweep();
  await createHistory(databaseOf(urlOf("api"))).deleteEvents("dc_1", {});
  // The counts of a namespace's resources are written with them, by the same roles.
  const components = createPostgresResourceStore(databaseOf(urlOf("operator")));
  await components.create(componentKind, { name: "one", namespace: "hw-u-1", spec: { code: "x" } });
  await components.delete(componentKind, "hw-u-1", "one");
  expect(await recorder.continueDeletions()).toBe(false);
  await createHistory(databaseOf(urlOf("operator"))).deleteSource("dc_1");
  expect(isRoleUrl(postgres.url)).toBe(false);
});

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
import { partitionRights, postgresRights, refusedStatements } from "../../support/rights/postgres.ts";

/** Each role's own user on a real Postgres, whose catalog is compared with the table of rights. */
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

/** The rights of a user as the catalog has them, in the words of the table. */
async function rightsOf(role: DatabaseRole): Promise<Readonly<Record<string, string>>> {
  const { rows = [] } =
    (await clients.get(role)?.query<{ table: string; right: string }>(`
      select relname as table, right_of.text as right
      from pg_class, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']) with ordinality privilege (name, n),
        lateral (
          select case when has_table_privilege(pg_class.oid, name) then name
            else name || '(' || string_agg(attname, ',' order by attname) || ')' end as text
          from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped and (has_table_privilege(pg_class.oid, name) or
            case when name in ('select', 'insert', 'update', 'references') then has_column_privilege(pg_class.oid, attnum, name) else false end)
        ) right_of
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S') and right_of.text is not null
      order by relname, privilege.n`)) ?? {};
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return Object.fromEntries([...byTable].map(([table, rights]) => [table, rights.map(({ right }) => right).join(" ")]));
}

/** The columns in the order of the catalog. */
const sorted = (rights: string): string =>
  rights.replace(/\(([^)]*)\)/g, (_, names: string) => `(${names.split(",").toSorted().join(",")})`);

/** A backup reads all tables but the record of rights. */
const expectedRights = (role: DatabaseRole): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...Object.entries(postgresRights), ...Object.entries(partitionRights)].flatMap(([table, rights]) => {
      const right = role === "backup" && table in postgresRights ? "select" : { backup: undefined, ...rights }[role];
      return right === undefined ? [] : [[table, sorted(right)]];
    }),
  );

describe.each(databaseRoles)("the user of %s", (role) => {
  it("has the rights of its rows, and no others", async () => {
    expect(await rightsOf(role)).toEqual(expectedRights(role));
  });

  it.each(refusedStatements)("cannot '%s'", async (statement) => {
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

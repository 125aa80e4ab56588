import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { replaceRights, type Rights } from "../../../platform/postgres/granted-rights.ts";
import { userOf } from "../../../platform/postgres/roles.ts";
import { withPostgres } from "../../support/postgres.ts";

/** Versions of Headwater that need different rights, set up one after the other on a real Postgres. */
const postgres = withPostgres();
const owner = createDatabase({ url: postgres.setupUrl });
afterAll(() => owner.close());

beforeEach(async () => {
  await sql`drop table if exists headwater_rights, old_table, kept_table, new_table`.execute(owner.db);
  await sql`create table old_table (a int); create table kept_table (a int, b int); create table new_table (a int)`.execute(owner.db);
});

const setUp = (rights: Rights[string]): Promise<void> => replaceRights(owner.db, { api: rights }, () => userOf("api"));
const may = async (table: string, privilege: string): Promise<boolean> => {
  const { rows } = await sql<{ may: boolean }>`
    select has_any_column_privilege(${userOf("api")}, ${table}, ${privilege}) as may`.execute(owner.db);
  return rows[0]?.may === true;
};

const previous = { old_table: "select", kept_table: "select (a), update (a)" };
const next = { kept_table: "select", new_table: "select, insert" };
const afterNext = { new_table: "select" };

describe("the rights of two versions that run at the same time", () => {
  test("are those of both after an upgrade", async () => {
    await setUp(previous);
    await setUp(next);
    expect([await may("old_table", "select"), await may("kept_table", "update"), await may("new_table", "insert")]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("are those of both after a rollback", async () => {
    await setUp(previous);
    await setUp(next);
    await setUp(previous);
    expect([await may("old_table", "select"), await may("new_table", "insert")]).toEqual([true, true]);
  });

  test("stay when the setup of one version runs again", async () => {
    await setUp(previous);
    await setUp(next);
    await setUp(next);
    expect([await may("old_table", "select"), await may("new_table", "insert")]).toEqual([true, true]);
  });

  test("end with the version after the next", async () => {
    await setUp(previous);
    await setUp(next);
    await setUp(afterNext);
    expect([await may("old_table", "select"), await may("kept_table", "update")]).toEqual([false, false]);
    expect([await may("kept_table", "select"), await may("new_table", "insert")]).toEqual([true, true]);
  });
});

test("the previous version's rights to a table and a column that were removed are left out", async () => {
  await setUp(previous);
  await sql`drop table old_table; alter table kept_table drop column a`.execute(owner.db);
  await setUp(next);
  expect([await may("kept_table", "select"), await may("new_table", "insert")]).toEqual([true, true]);
});

test("an installation of a version without a record keeps all rights until the version after the next", async () => {
  await sql.raw(`grant update on old_table to ${userOf("api")}`).execute(owner.db);
  await setUp(next);
  expect(await may("old_table", "update")).toBe(true);
  await setUp(afterNext);
  expect(await may("old_table", "update")).toBe(false);
});

import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { registryAnswers } from "../../support/npm-registry.ts";
import { withPostgres } from "../../support/postgres.ts";
import { withRegistry } from "../registry-support.ts";

const postgres = withPostgres();
const registry = withRegistry();
let isOffline = false;

beforeAll(async () => {
  isOffline = !(await registryAnswers());
  await postgres.client.query(
    `create table orders (id int primary key, total numeric, tags text[], "odd ""name" text, details jsonb, paid_at timestamptz, raw bytea)`,
  );
});
beforeEach(async ({ skip }) => {
  skip(isOffline, "the npm registry does not answer");
  await postgres.client.query("truncate orders");
});

function connection(): Readonly<Record<string, unknown>> {
  const { hostname, port, username, password, pathname } = new URL(postgres.url);
  return { host: hostname, port: Number(port), user: username, password, database: pathname.slice(1), tls: "off" };
}
const stored = async () => (await postgres.client.query("select * from orders order by id")).rows as unknown[];

describe("headwater-postgres-query", () => {
  const query = (text: string, parameters?: readonly unknown[], event?: unknown) =>
    registry.step("headwater-postgres-query", { ...connection(), query: text, ...(parameters === undefined ? {} : { parameters }) }, event);

  it("runs a statement with parameters and returns rows with their types", async () => {
    await postgres.client.query(
      "insert into orders (id, total, details, raw, paid_at) values (7, 120.50, '{\"a\":[1]}', '\\x00ff', '2026-01-02T03:04:05Z')",
    );
    const { result, exports } = await query("select id, total, details, raw, paid_at from orders where id = $1", [7]);
    expect(result).toEqual({
      rows: [{ id: 7, total: "120.50", details: { a: [1] }, raw: "AP8=", paid_at: "2026-01-02T03:04:05.000Z" }],
      row_count: 1,
    });
    expect(exports).toEqual({ $summary: "1 row" });
  });

  it("returns the number of rows that a statement without a result changed", async () => {
    await query("insert into orders (id, details) select n, $1 from generate_series(1, 3) n", [{ by: "é" }]);
    expect((await query("delete from orders where id < 3")).result).toEqual({ rows: [], row_count: 2 });
    expect(await stored()).toMatchObject([{ id: 3, details: { by: "é" } }]);
  });

  it("takes a value that looks like SQL as a value", async () => {
    const event = { name: "x'); drop table orders; --" };
    await query('insert into orders (id, "odd ""name") values (1, $1)', ["{{steps.trigger.event.name}}"], event);
    expect(await stored()).toMatchObject([{ 'odd "name': event.name }]);
  });

  it("refuses several statements at once", async () => {
    await expect(query("select 1; drop table orders", [])).rejects.toThrow("cannot insert multiple commands");
  });

  it("fails with the message and the code of the server, and without the password", async () => {
    await expect(query("select nope")).rejects.toThrow('column \\"nope\\" does not exist [42703]');
    await expect(query("insert into orders (id) values (1), (1)")).rejects.toThrow("Key (id)=(1) already exists.) [23505]");
    const wrong = registry.step("headwater-postgres-query", { ...connection(), password: "p4ssw0rd-x", query: "select 1" });
    await expect(wrong).rejects.toThrow("password authentication failed");
    await expect(wrong).rejects.not.toThrow("p4ssw0rd-x");
  });

  it("refuses a server without TLS unless TLS is off", async () => {
    const encrypted = registry.step("headwater-postgres-query", { ...connection(), tls: "verify", query: "select 1" });
    await expect(encrypted).rejects.toThrow("The server does not support SSL connections");
  });
});

describe("headwater-postgres-upsert", () => {
  const upsert = (rows: unknown, props: object = {}, event?: unknown) =>
    registry.step("headwater-postgres-upsert", { ...connection(), table: "orders", conflictColumns: ["id"], rows, ...props }, event);

  it("inserts a row, then updates it, and returns it as stored", async () => {
    const row = { id: "{{steps.trigger.event.id}}", total: 1.5, tags: ["a", "b"], details: { x: [1] } };
    const first = await upsert(row, {}, { id: 7 });
    expect(first.result).toMatchObject({
      inserted: 1,
      updated: 0,
      rows: [{ id: 7, total: 1.5, tags: ["a", "b"], details: { x: [1] }, raw: null }],
    });
    const second = await upsert({ id: 7, total: 2 });
    expect(second).toMatchObject({ result: { inserted: 0, updated: 1 }, exports: { $summary: "Inserted 0, updated 1 in orders" } });
    expect(await stored()).toMatchObject([{ id: 7, total: "2", tags: ["a", "b"], details: { x: [1] } }]);
  });

  it("writes many rows in one statement, or none of them", async () => {
    await upsert({ id: 2, total: 0 });
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, total: id }));
    expect((await upsert("{{steps.trigger.event}}", {}, rows)).result).toMatchObject({ inserted: 4_999, updated: 1 });
    await expect(
      upsert([
        { id: 6_000, total: 1 },
        { id: 6_001, total: "much" },
      ]),
    ).rejects.toThrow("[22P02]");
    expect(await stored()).toHaveLength(5_000);
  });

  it("keeps a row that has only key columns, and inserts without key columns", async () => {
    await upsert({ id: 1 });
    expect((await upsert([{ id: 1 }, { id: 2 }])).result).toMatchObject({ inserted: 1, updated: 0 });
    await expect(upsert({ id: 1 }, { conflictColumns: [] })).rejects.toThrow("[23505]");
  });

  it("quotes names, so that they cannot be SQL", async () => {
    await upsert({ id: 1, 'odd "name': "x" });
    expect(await stored()).toMatchObject([{ 'odd "name': "x" }]);
    await expect(upsert({ id: 1 }, { table: 'orders"; drop table orders; --' })).rejects.toThrow("[42P01]");
    await expect(upsert({ id: 1, "total) values (1); drop table orders; --": 1 })).rejects.toThrow("[42703]");
    expect(await stored()).toHaveLength(1);
  });

  it.each([
    ["no object", [5], "row 1 is 5: it must be an object by column"],
    ["other columns than the first", [{ id: 1 }, { total: 1 }], "all rows need the same, at least one, as row 1"],
    ["no columns", {}, "all rows need the same, at least one, as row 1"],
    ["a missing key column", { total: 1 }, "key column id is missing in the rows: they have total"],
  ])("refuses a row with %s", async (_, rows, message) => {
    await expect(upsert(rows)).rejects.toThrow(message);
  });

  it("does nothing for an empty list", async () => {
    expect(await upsert([])).toMatchObject({ result: { inserted: 0, updated: 0, rows: [] }, exports: { $summary: "There are no rows" } });
  });
});

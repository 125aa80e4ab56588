import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { migrations as list } from "../../../platform/postgres/migrations/list.ts";
import { transactionalMigrations as migrations } from "../../../platform/postgres/migrations/transactional.ts";
import { withPostgres } from "../../support/postgres.ts";
import { commitOf } from "../api/streams-support.ts";
import { committedEvent } from "../committed-event.ts";

/** Events and logs are partitioned by source; rows of older versions are moved into the partitions. */
const postgres = withPostgres();
const ours = "m0010-partitioned-history";
const reader = `reader_${randomBytes(6).toString("hex")}`;
const [sources, each] = [50, 3] as const;
let database: Database;

const names = Object.keys(migrations).toSorted();

async function migrateBy(chosen: readonly string[]): Promise<void> {
  for (const name of chosen) await database.db.transaction().execute(async (transaction) => migrations[name]?.up(transaction));
}

beforeAll(async () => {
  database = createDatabase({ url: postgres.url });
  await migrateBy(names.filter((name) => name < ours));
  await postgres.client.query(`
    create role ${reader};
    grant select, delete on events to ${reader};
    grant select (source, record) on logs to ${reader};
    insert into events (source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run)
      select 'dc_' || s, 1000 + e, e, 'em_' || s || e, 'c', 'd', 'sum', 7, '{"n":' || e || '}', 'r_1' from generate_series(1, ${sources}) s, generate_series(1, ${each}) e;
    insert into logs (source, run, record, place)
      select 'dc_' || s, 'r_1', '{"k":"console.log","ts":1,"msg":"' || e || '"}', e from generate_series(1, ${each}) e, generate_series(1, ${sources}) s`);
  await migrateBy(names.filter((name) => name >= ours));
  // Later ones have steps. Their indexes change no result.
  for (const { name, steps } of list)
    for (const step of names.includes(name) ? [] : steps)
      if (step.kind === "transaction") await database.db.transaction().execute(step.run);
});
afterAll(async () => {
  await database.close();
  await postgres.client.query(`drop owned by ${reader}; drop role ${reader}`);
});

async function counts(table: string): Promise<readonly number[]> {
  const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)} group by tableoid`.execute(database.db);
  return rows.map((row) => row.rows);
}

describe("history from before it was partitioned", () => {
  test("is complete, spread over the partitions", async () => {
    for (const table of ["events", "logs"]) {
      const parts = await counts(table);
      expect([parts.length, parts.reduce((sum, rows) => sum + rows, 0)]).toEqual([8, sources * each]);
    }
    const history = createHistory(database);
    for (const source of ["dc_1", `dc_${sources}`]) {
      const { items, total } = await history.pageEvents(source, { limit: 100, cursor: null });
      expect([total, items.map(({ id }) => id)]).toEqual([each, ["1003-3", "1002-2", "1001-1"]]);
      expect(items[0]).toEqual({
        id: "1003-3",
        emitId: `em_${source.slice(3)}3`,
        channel: "c",
        dedupeId: "d",
        summary: "sum",
        ts: 7,
        payload: '{"n":3}',
        indexedAtMs: 1_003,
        run: "r_1",
      });
      expect((await history.lastLogs(source)).map(({ record }) => record.msg)).toEqual(["1", "2", "3"]);
    }
  });

  test("continues: new rows follow the old ones", async () => {
    const history = createHistory(database);
    const commit = commitOf("dc_7", "u_1", [committedEvent("2000-0")], { logs: [{ k: "console.log", ts: 2, msg: "4" }] });
    await history.recordCommits("S", [{ seq: 1, commit }]);
    expect((await history.lastLogs("dc_7")).map(({ record }) => record.msg)).toEqual(["1", "2", "3", "4"]);
    expect((await history.pageEvents("dc_7", { limit: 1, cursor: null })).items[0]?.id).toBe("2000-0");
    await history.deleteSource("dc_7");
    expect([await history.lastLogs("dc_7"), (await history.pageEvents("dc_7", { limit: 1, cursor: null })).total]).toEqual([[], 0]);
  });

  test("can be read by the same roles as before", async () => {
    const may = async (column: string): Promise<boolean> =>
      (await postgres.client.query<{ may: boolean }>(`select ${column} as may`)).rows[0]?.may ?? false;
    expect(await may(`has_table_privilege('${reader}', 'events', 'select, delete')`)).toBe(true);
    expect(await may(`has_table_privilege('${reader}', 'events', 'insert')`)).toBe(false);
    expect(await may(`has_column_privilege('${reader}', 'logs', 'record', 'select')`)).toBe(true);
    expect(await may(`has_column_privilege('${reader}', 'logs', 'run', 'select')`)).toBe(false);
  });
});

test("a source's events are searched in its partition alone", async () => {
  const { rows } = await postgres.client.query<Record<"QUERY PLAN", string>>(
    "explain select * from events where source = 'dc_9' order by ms desc, seq desc limit 100",
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan.match(/ on events_\d/g)).toHaveLength(1);
});

import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type pg from "pg";
import { expect, it } from "vitest";
import { createDatabase } from "../../platform/postgres/connection.ts";
import { migrate } from "../../platform/postgres/migrations/migrations.ts";
import { withMigratedPostgres, withPostgres } from "../support/postgres.ts";
import { databaseDump } from "./release.ts";

const release = withPostgres();
const current = withMigratedPostgres();

/** Columns of the tables with data, with their types. Partitions depend on the date, and migrations keep records of their own. */
async function columnsOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ column: string }>(`
    select format('%s.%s %s', relname, attname, format_type(atttypid, atttypmod)) as column
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'headwater_%'
      and attnum > 0 and not attisdropped
    order by 1`);
  return rows.map(({ column }) => column);
}

async function countOf(table: string): Promise<number> {
  const { rows } = await release.client.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}

it("migrations give the database of release 0.1.0 the tables of a new one, and keep its rows", async () => {
  await release.client.query(gunzipSync(await readFile(databaseDump)).toString());
  const tables = ["users", "organizations", "api_keys", "resources", "events", "dead_letters"];
  const before = await Promise.all(tables.map(countOf));
  const database = createDatabase({ url: release.url, hasSlowStatements: true });
  await migrate(database.db);
  await database.close();
  expect(await columnsOf(release.client)).toEqual(await columnsOf(current.client));
  expect(Math.min(...before)).toBeGreaterThan(0);
  expect(await Promise.all(tables.map(countOf))).toEqual(before);
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createDatabase, type Database } from "../../platform/postgres/connection.ts";
import { migrate } from "../../platform/postgres/migrations/migrations.ts";
import { transaction, type Migration } from "../../platform/postgres/migrations/step.ts";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import type { Figure } from "../figure.ts";

/**
 * The longest time that a writer waits while a table of 500,000 rows is migrated: a new column is filled in batches, and an index is created
 * concurrently. Compared with its longest write of the same number without a migration.
 */
const rows = Number(process.env["BENCH_MIGRATION_ROWS"] ?? 500_000);
const batchRows = 5_000;

const table: Migration = {
  name: "m0001-table",
  steps: [
    transaction(`create table large (n bigint generated always as identity primary key, text text not null);
      insert into large (text) select 'row ' || n from generate_series(1, ${rows}) n`),
  ],
};
const size: Migration = {
  name: "m0002-size",
  steps: [
    transaction("alter table large add column size integer"),
    {
      kind: "batches",
      run: async (db) => {
        const { numAffectedRows = 0n } = await sql`
          update large set size = length(text) where n in (select n from large where size is null limit ${batchRows})`.execute(db);
        return numAffectedRows === BigInt(batchRows);
      },
    },
    { kind: "index", name: "large_by_size", on: "large (size)" },
  ],
};

export async function run(): Promise<readonly Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  const postgres = await startPostgres({ dataDirectory: directory });
  const migrating = createDatabase({ url: postgres.url, connections: 1, hasSlowStatements: true });
  const writer = createDatabase({ url: postgres.url, connections: 1 });
  try {
    await migrate(migrating.db, { list: [table] });
    const during = await writeUntil(writer, migrate(migrating.db, { list: [table, size] }));
    const alone = await writeTimes(writer, during.writes);
    const note = `${during.writes} writes while ${rows} rows were migrated in ${(during.totalMs / 1_000).toFixed(1)} s`;
    return [{ name: "longest wait of a writer during a migration", value: during.maxMs, unit: "ms", baseline: alone.maxMs, note }];
  } finally {
    await Promise.all([migrating.close(), writer.close()]);
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Writes {
  readonly writes: number;
  readonly maxMs: number;
  readonly totalMs: number;
}

async function writeUntil(writer: Database, ended: Promise<void>): Promise<Writes> {
  let isEnded = false;
  const ending = ended.finally(() => (isEnded = true));
  const written = await write(writer, () => !isEnded);
  await ending;
  return written;
}

const writeTimes = (writer: Database, count: number): Promise<Writes> => write(writer, (writes) => writes < count);

async function write({ db }: Database, shouldWrite: (writes: number) => boolean): Promise<Writes> {
  const startedAt = performance.now();
  let [writes, maxMs] = [0, 0];
  while (shouldWrite(writes)) {
    const at = performance.now();
    await sql`insert into large (text) values ('new')`.execute(db);
    maxMs = Math.max(maxMs, performance.now() - at);
    writes++;
  }
  return { writes, maxMs, totalMs: performance.now() - startedAt };
}

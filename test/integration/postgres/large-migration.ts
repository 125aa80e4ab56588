import { sql } from "kysely";
import { transaction, type Migration } from "../../../platform/postgres/migrations/step.ts";

/** A table as large as `rows`, and what a version could do to it: a column whose content is computed, and an index. */
export const rows = 20_000;
const batchRows = 500;

export const largeMigrations: readonly Migration[] = [
  {
    name: "m0001-large",
    steps: [
      transaction(`
      create table large (n bigint primary key, text text not null, changes integer not null default 0);
      insert into large (n, text) select n, 'row ' || n from generate_series(1, ${rows}) n`),
    ],
  },
  {
    name: "m0002-size",
    steps: [
      transaction("alter table large add column size integer"),
      {
        kind: "batches",
        run: async (db) => {
          const { numAffectedRows = 0n } = await sql`
            update large set size = length(text), changes = changes + 1 where n in (
              select n from large where size is null order by n limit ${batchRows} for update skip locked
            )`.execute(db);
          return numAffectedRows === BigInt(batchRows);
        },
      },
      { kind: "index", name: "large_by_size", on: "large (size, n)" },
    ],
  },
];

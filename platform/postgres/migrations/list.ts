import type { Kysely } from "kysely";
import { listColumns } from "./list-columns.ts";
import { searchColumns } from "./search.ts";
import { transactionalMigrations } from "./transactional.ts";
import { transaction, type Migration } from "./step.ts";
import { traceColumns } from "./traces.ts";

/** All migrations, in the order in which they run. Their order depends on no name and no date: add at the end, with the next number. */
export const migrations: readonly Migration[] = [
  ...Object.entries(transactionalMigrations).map(([name, { up }]): Migration => ({
    name,
    steps: [{ kind: "transaction", run: (db) => up(db as unknown as Kysely<unknown>) }], // They alter tables and read none of their types.
  })),
  traceColumns,
  searchColumns,
  { name: "m0040-files-of-steps", steps: [transaction("alter table workflow_steps add column files text")] },
  // What attempts at webhooks have sent and received. An earlier version writes and reads attempts without it.
  { name: "m0041-exchanges", steps: [transaction("alter table attempts add column exchange text")] },
  listColumns,
  {
    name: "m0043-disk-samples",
    steps: [transaction("create table disk_samples (name text, at_ms bigint, bytes bigint not null, primary key (name, at_ms))")],
  },
];

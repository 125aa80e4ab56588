import { transaction, type Migration, type Step } from "./step.ts";

/** As `partitionHistory` has made them. */
const partitions = Array.from({ length: 8 }, (_, remainder) => remainder);

/** Postgres creates no index of a partitioned table concurrently: each partition has its own. */
const ofPartitions = (table: "events" | "logs", name: string, columns: string): readonly Step[] =>
  partitions.map((part) => ({ kind: "index", name: `${table}_${part}_${name}`, on: `${table}_${part} ${columns}` }));

/**
 * What searches read, see `../search`: by owner and time. Rows from before, and those that an earlier version writes in the meantime, have
 * no owner until the upkeep has filled it in (`../history/search-columns.ts`); the partial indexes list those.
 */
export const searchColumns: Migration = {
  name: "m0039-search",
  steps: [
    // Each locks its table for a moment, and waits for that alone.
    transaction("alter table events add column owner text"),
    transaction("alter table logs add column owner text, add column at_ms bigint"),
    ...ofPartitions("events", "unfilled", "(source) where owner is null"),
    ...ofPartitions("logs", "unfilled", "(source) where owner is null"),
    ...ofPartitions("events", "by_time", "(owner, ms)"),
    ...ofPartitions("logs", "by_time", "(owner, at_ms)"),
    { kind: "index", name: "runs_by_time", on: "runs (owner, started_ms)" },
    { kind: "index", name: "workflow_runs_by_time", on: "workflow_runs (owner, started_ms)" },
  ],
};

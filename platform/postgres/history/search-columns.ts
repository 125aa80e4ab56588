import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "../tables.ts";

/** Rows that get their columns in one transaction. */
const batch = 1_000;

/** The owner of a source or workflow, as its runs have it; "" if none is stored. @param emitter SQL of the id */
export const ownerOfEmitter = (emitter: RawBuilder<unknown>): RawBuilder<unknown> => sql`coalesce(
    (select ran.owner from runs ran where ran.source = ${emitter} order by ran.n desc limit 1),
    (select ran.owner from workflow_runs ran where ran.workflow = ${emitter} limit 1), '')`;

/** Epoch ms of a stored line. Runners may forge it. */
export const timeOfLine = (record: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`coalesce(substring(left(${record}, 512) from '"ts":([0-9]{1,15})')::bigint, 0)`;

interface Filled {
  readonly table: "events" | "logs";
  /** Its number within the source. */
  readonly key: readonly ["ms", "seq"] | readonly ["n"];
  readonly set: RawBuilder<unknown>;
}

const filled: readonly Filled[] = [
  { table: "events", key: ["ms", "seq"], set: sql`owner = ${ownerOfEmitter(sql`unfilled.source`)}` },
  { table: "logs", key: ["n"], set: sql`owner = ${ownerOfEmitter(sql`unfilled.source`)}, at_ms = ${timeOfLine(sql`stored.record`)}` },
];

/**
 * Fills in the columns by which rows are searched, in rows that an earlier version has written: before an upgrade, and while it still runs.
 * Each call continues at the source where the last one ended, since the index begins with what that one has filled. Several processes may do it
 * at once. @returns a function that fills in a batch of rows of each table, and returns whether there may be more
 */
export function searchColumnsFilling(db: Kysely<Tables>): () => Promise<boolean> {
  const places = filled.map((each) => ({ ...each, from: "" }));
  return async () => {
    let hasMore = false;
    for (const place of places) {
      const { done, last } = await fill(db, place, place.from);
      const isRound = place.from === "" && done < batch;
      place.from = done < batch ? "" : (last ?? "");
      hasMore ||= !isRound;
    }
    return hasMore;
  };
}

async function fill(db: Kysely<Tables>, { table, key, set }: Filled, from: string): Promise<FilledBatch> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const isSame = sql.join(
    ["source", ...key].map((name) => sql`${sql.ref(`stored.${name}`)} = ${sql.ref(`unfilled.${name}`)}`),
    sql` and `,
  );
  return db.transaction().execute(async (transaction) => {
    // Without statistics of the new column, Postgres would read the whole table.
    await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`.execute(
      transaction,
    );
    const { rows } = await sql<FilledBatch>`
      with unfilled as (
        select source, ${columns} from ${sql.table(table)} where owner is null and source >= ${from}::text
        order by source limit ${sql.lit(batch)} for update skip locked
      ), done as (
        update ${sql.table(table)} stored set ${set} from unfilled where ${isSame} returning stored.source
      )
      select count(*) as done, max(source) as last from done`.execute(transaction);
    return rows[0] ?? { done: 0, last: null };
  });
}

interface FilledBatch {
  readonly done: number;
  /** The last source of the batch; others of its rows may be left. */
  readonly last: string | null;
}

import { sql, type Kysely } from "kysely";
import type { DiskSamples } from "../../../api/admin/ports.ts";
import { column, integerColumn } from "../columns.ts";
import type { Tables } from "../tables.ts";

const database = "postgres";
const keepDays = 14;

/** Size of the database that is connected to. */
const databaseBytes = sql`pg_database_size(current_database())`;

/** Reads at most two weeks of samples. */
export function createDiskSamples({ db }: { readonly db: Kysely<Tables> }): DiskSamples {
  return {
    async read() {
      const { rows } = await sql<{ name: string; at_ms: number; bytes: number }>`
        select ${database} as name, (extract(epoch from clock_timestamp()) * 1000)::bigint as at_ms, ${databaseBytes} as bytes
        union all select name, at_ms, bytes from disk_samples`.execute(db);
      const [current, ...stored] = rows;
      const samples = Map.groupBy(
        stored.map(({ name, at_ms: atMs, bytes }) => ({ name, atMs, bytes })),
        ({ name }) => name,
      );
      return { databaseBytes: current?.bytes ?? 0, ofDatabase: samples.get(database) ?? [], ofStreams: samples };
    },
  };
}

/** Stores the use of this hour, once for all processes, and deletes old samples. */
export async function keepDiskSamples(
  { db }: { readonly db: Kysely<Tables> },
  streams: readonly { readonly name: string; readonly bytes: number }[],
): Promise<void> {
  await sql`
    insert into disk_samples (name, at_ms, bytes)
    select name, (extract(epoch from date_trunc('hour', now())) * 1000)::bigint, bytes from (
      select * from unnest(${column(streams, ({ name }) => name)}::text[], ${integerColumn(streams, ({ bytes }) => bytes)}::bigint[]) as stream (name, bytes)
      union all select ${database}, ${databaseBytes}
    ) sample on conflict do nothing`.execute(db);
  await sql`delete from disk_samples where at_ms < extract(epoch from now() - make_interval(days => ${keepDays})) * 1000`.execute(db);
}

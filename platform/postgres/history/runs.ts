import { sql, type Kysely, type RawBuilder } from "kysely";
import type { RunSummary } from "../../../domain/invocation/invocation.ts";
import type { LogRecord } from "../../../domain/run-products.ts";
import { unknownCursor, type PageRequest } from "../../../domain/page.ts";
import type { Tables } from "../tables.ts";
import { boundedRows, leftBehind } from "../bounded-rows.ts";
import type { StoredPage } from "./events.ts";

/** A run without its log lines. */
export type RecordedRun = Omit<RunSummary, "logs">;

export interface FoundRun extends RunSummary {
  /** JSON text of the event of a failed run, if it is stored. */
  readonly received?: string;
}

export interface RunFilter {
  /** Only failed runs, or only successful ones. */
  readonly failed?: boolean;
}

export interface StoredLog {
  /** Grows with each recorded line. */
  readonly n: number;
  readonly run: string;
  readonly record: LogRecord;
}

/** Newest first; the cursor is a run's id. @throws InvalidInput when that run is no longer stored */
export async function pageRuns(
  db: Kysely<Tables>,
  source: string,
  page: PageRequest & RunFilter,
  keep: number,
): Promise<StoredPage<RecordedRun>> {
  const { limit, cursor, failed, maxBytes } = page;
  const backwards = cursor?.side === "before";
  const from = cursor === null ? undefined : await positionOf(db, source, cursor.id);
  const beyond = from === undefined ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} ${from}`;
  const newest = sql`select * from kept where ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}`;
  const { rows } = await sql<{ summary: string | null; total: number; rows_left: number | null }>`
    with kept as (
      select * from (select n, failed, summary from runs where source = ${source} order by n desc limit ${keep}) newest
      where ${failed === undefined ? sql`true` : sql`failed = ${failed}`}
    )
    select counted.total, found.rows_left, ${withoutReceived} as summary from (select count(*) as total from kept) counted left join (
      select * from ${boundedRows({ rows: newest, bytes: sql`octet_length(page.summary)`, order: sql`n desc`, maxBytes })} bounded
    ) found on true
    order by found.n desc`.execute(db);
  return {
    items: rows.flatMap(({ summary }) => (summary === null ? [] : [runFrom(summary)])),
    total: rows[0]?.total ?? 0,
    ...leftBehind(rows),
  };
}

/** With its log lines that are still stored. */
export async function findRun(db: Kysely<Tables>, source: string, id: string): Promise<FoundRun | undefined> {
  const { rows } = await sql<{
    summary: string;
  }>`select summary from runs where id = ${id} and source = ${source} order by n desc limit 1`.execute(db);
  const row = rows[0];
  if (row === undefined) return undefined;
  const logs = await sql<{
    record: string;
  }>`select record from logs where source = ${source} and run = ${id} order by n`.execute(db);
  return { ...runFrom(row.summary), logs: logs.rows.map(({ record }) => logFrom(record)) };
}

/** The last `limit` lines, oldest first. */
export async function lastLogs(db: Kysely<Tables>, source: string, limit: number): Promise<readonly StoredLog[]> {
  const { rows } = await sql<{ n: number; run: string; record: string }>`
    select * from (select n, run, record from logs where source = ${source} order by n desc limit ${limit}) newest order by n`.execute(db);
  return rows.map(({ n, run, record }) => ({ n, run, record: logFrom(record) }));
}

async function positionOf(db: Kysely<Tables>, source: string, id: string): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select n from runs where id = ${id} and source = ${source} order by n desc limit 1`.execute(db);
  const n = rows[0]?.n;
  if (n === undefined) throw unknownCursor(id);
  return n;
}

/**
 * The summary of a run without the event that it received, which only error events need, and which may be large: readers of many runs would
 * run out of memory.
 */
export const withoutReceived: RawBuilder<string | null> = sql`case when length(summary) < 65536 then summary else (
  select json_object_agg(key, value)::text from json_each(summary::json) where key <> 'received') end`;

// Only record.ts writes these texts, from these types.
export const runFrom = (text: string): RecordedRun => JSON.parse(text) as RecordedRun;
export const logFrom = (text: string): LogRecord => JSON.parse(text) as LogRecord;

import { sql, type Kysely, type RawBuilder } from "kysely";
import type { TimeRange } from "../../../api/ports.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { isEventId, parseEventId } from "../../../domain/event/event-id.ts";
import type { PageRequest } from "../../../domain/page.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { isScheduled } from "../../../domain/schedule/scheduled-event.ts";
import type { ScheduledEventTable, Tables } from "../tables.ts";
import { boundedRows, leftBehind } from "../bounded-rows.ts";
import { column, integerColumn, optionalColumn } from "../columns.ts";
import { ownerOfEmitter } from "./search-columns.ts";
import { eventFrom, ofTime, pair, within, type StoredEvent, type StoredPage } from "./events.ts";
import type { EventRange } from "./ranges.ts";

interface Sequenced {
  readonly seq: number;
  readonly commit: Commit;
}

interface ScheduledRow extends Sequenced {
  readonly event: CommittedEvent & { readonly deliverAt: number };
}

/** Events of a commit that are not due yet. The table `scheduled_events` stores them until then, and only the list of `$in` shows them. */
export function scheduledRows({ seq, commit }: Sequenced): ScheduledRow[] {
  return commit.events.flatMap((event) => (isScheduled(event) ? [{ seq, commit, event }] : []));
}

/** For commits in `live`. */
export function insertScheduled(rows: readonly ScheduledRow[]): RawBuilder<unknown> {
  return sql`
    insert into scheduled_events (source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run, due_ms)
    select row.source, row.ms, row.seq, row.emit_id, row.channel, row.dedupe_id, row.summary, row.ts, row.payload, row.run, row.due_ms
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, ({ commit }) => commit.source)}::text[],
      ${integerColumn(rows, ({ event }) => parseEventId(event.id).ms)}::bigint[], ${integerColumn(rows, ({ event }) => parseEventId(event.id).sequence)}::bigint[],
      ${column(rows, ({ event }) => event.emitId)}::text[], ${column(rows, ({ event }) => event.channel)}::text[],
      ${optionalColumn(rows, ({ event }) => event.dedupeId)}::text[], ${optionalColumn(rows, ({ event }) => event.summary)}::text[],
      ${integerColumn(rows, ({ event }) => event.ts)}::bigint[], ${column(rows, ({ event }) => event.payload)}::text[],
      ${column(rows, ({ commit }) => commit.run.id)}::text[], ${integerColumn(rows, ({ event }) => event.deliverAt)}::bigint[]
    ) as row (commit_seq, source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run, due_ms)
    where row.commit_seq in (select commit_seq from live)
    on conflict do nothing`;
}

/** Newest first by the time they were scheduled. */
export async function pageScheduled(
  db: Kysely<Tables>,
  source: string,
  page: PageRequest & TimeRange,
): Promise<StoredPage<StoredEvent & { readonly deliverAt: number }>> {
  const { limit, cursor, maxBytes } = page;
  const backwards = cursor?.side === "before";
  const beyond = cursor === null ? sql`true` : sql`(ms, seq) ${backwards ? sql`>` : sql`<`} ${pair(cursor.id)}`;
  const listed = sql`scheduled_events where source = ${source} and ${ofTime(page)}`;
  const newest = sql`select * from ${listed} and ${beyond} order by ${backwards ? sql`ms, seq` : sql`ms desc, seq desc`} limit ${limit}`;
  const { rows } = await sql<Omit<ScheduledEventTable, "source"> & { ms: number | null; total: number; rows_left: number | null }>`
    select counted.total, found.* from (select count(*) as total from ${listed}) counted left join (
      select * from ${boundedRows({ rows: newest, bytes: sql`octet_length(page.payload)`, order: sql`ms desc, seq desc`, maxBytes })} bounded
    ) found on true
    order by found.ms desc, found.seq desc`.execute(db);
  const items = rows.filter((row) => row.ms !== null).map((row) => ({ ...eventFrom(row), deliverAt: row.due_ms }));
  return { items, total: rows[0]?.total ?? 0, ...leftBehind(rows) };
}

/** Cancels them. */
export async function deleteScheduled(db: Kysely<Tables>, source: string, range: EventRange): Promise<void> {
  await sql`delete from scheduled_events where source = ${source} and ${within(range)}`.execute(db);
}

/** The event's commit is recorded once the source's partition has reached the position `seq` of the stream. */
export async function findScheduled(
  db: Kysely<Tables>,
  source: string,
  listedId: string,
  { stream, seq }: { readonly stream: string; readonly seq: number },
): Promise<"listed" | "gone" | "unrecorded"> {
  const { rows } = await sql<{ listed: boolean; recorded: boolean }>`
    select exists (select from scheduled_events where source = ${source} and (ms, seq) = ${pair(listedId)}) as listed,
      coalesce(
        (select recorded.seq from recorder_partitions recorded where recorded.stream = ${stream} and recorded.partition = ${partitionOf(source)}),
        (select recorded.seq from recorder_positions recorded where recorded.stream = ${stream}), 0
      ) >= ${seq} as recorded`.execute(db);
  if (rows[0]?.listed === true) return "listed";
  return rows[0]?.recorded === true ? "gone" : "unrecorded";
}

/** Moves it to the history, with a new id. Idempotent. */
export async function emitScheduled(db: Kysely<Tables>, source: string, listedId: string, id: string): Promise<void> {
  if (!isEventId(id)) return;
  const { ms, sequence } = parseEventId(id);
  await sql`
    with due as (delete from scheduled_events where source = ${source} and (ms, seq) = ${pair(listedId)} returning *)
    insert into events (source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run, owner)
    select source, ${ms}::bigint, ${sequence}::bigint, emit_id, channel, dedupe_id, summary, ts, payload, run, ${ownerOfEmitter(sql`due.source`)} from due
    on conflict do nothing`.execute(db);
}

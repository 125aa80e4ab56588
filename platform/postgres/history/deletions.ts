import { sql, type Kysely, type RawBuilder, type Selectable } from "kysely";
import type { EventDeletion } from "../../../api/ports.ts";
import { Invariant, NotFound } from "../../../domain/errors.ts";
import { parseEventId } from "../../../domain/event/event-id.ts";
import type { EventDeletionTable, Tables } from "../tables.ts";
import type { EventFilter, EventRange } from "./ranges.ts";

/** Events deleted per transaction; bounds its duration and the work lost by a crash. */
export const deletionBatch = 1_000;
const maxListed = 100;

type DeletionRow = Selectable<EventDeletionTable>;

/**
 * Starts the deletion of a range of events, from the oldest, in batches. Its row stores the progress, in the transaction of each batch, so
 * any process can continue it. Lists hide the events at once. The range ends at most at the newest event of this moment: later events stay.
 *
 * @returns its number @throws InvalidInput for an invalid id
 */
export async function beginDeletion(
  db: Kysely<Tables>,
  source: string,
  { startId, endId, channel }: EventRange & EventFilter,
): Promise<number> {
  const start = startId === undefined ? undefined : parseEventId(startId);
  const end = endId === undefined ? undefined : parseEventId(endId);
  const isBefore = end === undefined ? sql`false` : sql`(${end.ms}::bigint, ${end.sequence}::bigint) < (ms, seq)`;
  const bound = (name: "ms" | "seq", value: number | undefined): RawBuilder<unknown> =>
    sql`case when ${isBefore} then ${value ?? null}::bigint else ${sql.ref(name)} end as ${sql.ref(name)}`;
  const { rows } = await sql<{ n: number }>`
    insert into event_deletions (source, start_ms, start_seq, end_ms, end_seq, channel, next_ms, next_seq, finished_at)
    select ${source}, ${start?.ms ?? null}::bigint, ${start?.sequence ?? null}::bigint, last.ms, last.seq, ${channel ?? null}::text,
      ${start?.ms ?? 0}::bigint, ${start?.sequence ?? 0}::bigint, case when last.ms is null then now() end
    from (select) asked left join lateral (
      select ${bound("ms", end?.ms)}, ${bound("seq", end?.sequence)} from events where source = ${source} order by events.ms desc, events.seq desc limit 1
    ) last on true
    returning n`.execute(db);
  if (rows[0] === undefined) throw new Invariant(`the deletion of events of ${source} was not stored`);
  return rows[0].n;
}

/** Runs a batch of the oldest deletion that no other process works on, or of the given one. @returns false when there was nothing to do */
export function continueDeletion(db: Kysely<Tables>, batch: number, n?: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<DeletionRow>`
      select * from event_deletions where finished_at is null and ${n === undefined ? sql`true` : sql`n = ${n}`}
      order by n limit 1 for update skip locked`.execute(transaction);
    if (rows[0] === undefined) return false;
    await deleteNext(transaction, rows[0], batch);
    return true;
  });
}

async function deleteNext(db: Kysely<Tables>, deletion: DeletionRow, batch: number): Promise<void> {
  const { n, source, channel, next_ms, next_seq, end_ms, end_seq } = deletion;
  await sql`
    with looked as (
      select ms, seq, channel from events
      where source = ${source} and (ms, seq) >= (${next_ms}::bigint, ${next_seq}::bigint) and (ms, seq) <= (${end_ms}::bigint, ${end_seq}::bigint)
      order by ms, seq limit ${batch}
    ), gone as (
      delete from events using looked
      where events.source = ${source} and events.ms = looked.ms and events.seq = looked.seq
        and (${channel}::text is null or looked.channel = ${channel}::text)
      returning 1
    ), last as (select ms, seq from looked order by ms desc, seq desc limit 1)
    update event_deletions set
      deleted = deleted + (select count(*) from gone),
      next_ms = coalesce((select ms from last), next_ms), next_seq = coalesce((select seq + 1 from last), next_seq),
      finished_at = case when (select count(*) from looked) < ${batch} then now() end
    where n = ${n}`.execute(db);
}

export async function getDeletion(db: Kysely<Tables>, n: number): Promise<EventDeletion> {
  const row = await db.selectFrom("event_deletions").selectAll().where("n", "=", n).executeTakeFirst();
  if (row === undefined) throw new NotFound();
  return deletionFrom(row);
}

/** Newest first, without those removed by `sweep`. */
export async function listDeletions(db: Kysely<Tables>, source: string): Promise<readonly EventDeletion[]> {
  const { rows } = await sql<DeletionRow>`
    select * from event_deletions where source = ${source} order by n desc limit ${maxListed}`.execute(db);
  return rows.map(deletionFrom);
}

/** Condition on a row of `events`: no pending deletion includes it. Rows are only checked while the source has one. */
export function isNotBeingDeleted(source: string | RawBuilder<unknown>): RawBuilder<unknown> {
  const pending = sql`from event_deletions pending where pending.source = ${source} and pending.finished_at is null`;
  return sql`(not exists (select ${pending}) or not exists (
    select ${pending} and (events.ms, events.seq) >= (pending.next_ms, pending.next_seq) and (events.ms, events.seq) <= (pending.end_ms, pending.end_seq)
      and (pending.channel is null or pending.channel = events.channel)
  ))`;
}

function deletionFrom(row: DeletionRow): EventDeletion {
  const id = (ms: number | null, seq: number | null): string | null => (ms === null || seq === null ? null : `${ms}-${seq}`);
  return {
    id: `ed_${row.n}`,
    startId: id(row.start_ms, row.start_seq),
    endId: id(row.end_ms, row.end_seq),
    channel: row.channel,
    deleted: row.deleted,
    createdAtMs: row.created_at.getTime(),
    finishedAtMs: row.finished_at?.getTime() ?? null,
  };
}

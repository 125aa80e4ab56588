import { sql, type Kysely, type RawBuilder } from "kysely";
import type { StoredEvent as ListedEvent, TimeRange } from "../../../api/ports.ts";
import { parseEventId } from "../../../domain/event/event-id.ts";
import type { PageRequest } from "../../../domain/page.ts";
import type { ItemSize } from "../../../domain/parts.ts";
import type { EventTable, Tables } from "../tables.ts";
import { boundedRows, leftBehind } from "../bounded-rows.ts";
import { isNotBeingDeleted } from "./deletions.ts";
import type { EventFilter, EventRange } from "./ranges.ts";

export interface StoredEvent extends ListedEvent {
  /** Id of the run that emitted it. */
  readonly run: string;
}

export interface StoredPage<Item> {
  readonly items: readonly Item[];
  /** Size of the whole stored list. */
  readonly total: number;
  /** Number of items of the page that did not fit into its bytes. */
  readonly left?: number;
}

/** A stored failed run or log line, without its content. */
export interface DerivedEntry {
  /** Its row. */
  readonly n: number;
  /** Epoch ms. Runners may forge times. */
  readonly at: number;
  readonly bytes: number;
}

type EventRow = Omit<EventTable, "source" | "owner">;

/** Newest first. The cursor's event need not exist: ids are ordered. */
export async function pageEvents(
  db: Kysely<Tables>,
  source: string,
  page: PageRequest & EventFilter & TimeRange,
  keep: number,
): Promise<StoredPage<StoredEvent>> {
  const { limit, cursor, maxBytes } = page;
  const backwards = cursor?.side === "before";
  const beyond = cursor === null ? sql`true` : sql`(ms, seq) ${backwards ? sql`>` : sql`<`} ${pair(cursor.id)}`;
  const { kept, from } = isWhole(page) ? wholeList(source, keep) : { kept: keptEvents(source, keep, page), from: sql`kept where true` };
  const newest = sql`select ${columns} from ${from} and ${beyond} order by ${backwards ? sql`ms, seq` : sql`ms desc, seq desc`} limit ${limit}`;
  const { rows } = await sql<EventRow & { ms: number | null; total: number; rows_left: number | null }>`
    with ${kept}
    select counted.total, found.* from (select count(*) as total from kept) counted left join (
      select * from ${boundedRows({ rows: newest, bytes: sql`octet_length(page.payload)`, order: sql`ms desc, seq desc`, maxBytes })} bounded
    ) found on true
    order by found.ms desc, found.seq desc`.execute(db);
  return { items: rows.filter((row) => row.ms !== null).map(eventFrom), total: rows[0]?.total ?? 0, ...leftBehind(rows) };
}

const columns = sql`ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run`;

const isWhole = ({ channel, sinceMs, untilMs }: EventFilter & TimeRange): boolean =>
  channel === undefined && sinceMs === undefined && untilMs === undefined;

/** Counts the stored events with the index alone, and reads only the events shown. */
function wholeList(source: string, keep: number): { readonly kept: RawBuilder<unknown>; readonly from: RawBuilder<unknown> } {
  const ofSource = sql`source = ${source} and ${isNotBeingDeleted(source)}`;
  return {
    kept: sql`kept as (select ms, seq from events where ${ofSource} order by ms desc, seq desc limit ${keep})`,
    from: sql`events where ${ofSource} and (ms, seq) >= (select ms, seq from kept order by ms, seq limit 1)`,
  };
}

/** Oldest first, in the order of a replay. */
export async function listEventsBetween(
  db: Kysely<Tables>,
  source: string,
  range: EventRange & EventFilter,
  keep: number,
): Promise<readonly StoredEvent[]> {
  const { rows } =
    await sql<EventRow>`with ${keptEvents(source, keep, range)} select * from kept where ${within(range)} order by ms, seq`.execute(db);
  return rows.map(eventFrom);
}

/** Oldest first. */
export async function listEventSizes(
  db: Kysely<Tables>,
  source: string,
  range: EventRange & EventFilter,
  keep: number,
): Promise<readonly ItemSize[]> {
  const { rows } = await sql<ItemSize>`
    with ${keptEvents(source, keep, range)}
    select ms || '-' || seq as id, octet_length(payload) as bytes from kept where ${within(range)} order by ms, seq`.execute(db);
  return rows;
}

/** The newest `keep` events of the source that are not being deleted, whatever pruning has left, filtered by channel and time. */
function keptEvents(source: string, keep: number, filter: EventFilter & TimeRange): RawBuilder<unknown> {
  return sql`newest as (
      select ${columns} from events
      where source = ${source} and ${isNotBeingDeleted(source)} order by ms desc, seq desc limit ${keep}
    ), kept as (select * from newest where ${onChannel(filter)} and ${ofTime(filter)})`;
}

const onChannel = ({ channel }: EventFilter): RawBuilder<unknown> => (channel === undefined ? sql`true` : sql`channel = ${channel}`);

/** By the time in an event's id. */
export function ofTime({ sinceMs, untilMs }: TimeRange): RawBuilder<unknown> {
  const from = sinceMs === undefined ? sql`true` : sql`ms >= ${sinceMs}::bigint`;
  const to = untilMs === undefined ? sql`true` : sql`ms <= ${untilMs}::bigint`;
  return sql`${from} and ${to}`;
}

export function within({ startId, endId }: EventRange): RawBuilder<unknown> {
  const from = startId === undefined ? sql`true` : sql`(ms, seq) >= ${pair(startId)}`;
  const to = endId === undefined ? sql`true` : sql`(ms, seq) <= ${pair(endId)}`;
  return sql`${from} and ${to}`;
}

export function pair(id: string): RawBuilder<unknown> {
  const { ms, sequence } = parseEventId(id);
  return sql`(${ms}::bigint, ${sequence}::bigint)`;
}

export function eventFrom(row: EventRow): StoredEvent {
  return {
    id: `${row.ms}-${row.seq}`,
    emitId: row.emit_id,
    channel: row.channel,
    dedupeId: row.dedupe_id,
    summary: row.summary,
    ts: row.ts,
    payload: row.payload,
    indexedAtMs: row.ms,
    run: row.run,
  };
}

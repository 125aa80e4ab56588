import { sql, type RawBuilder } from "kysely";
import {
  maxSearchedHead,
  maxSearchedText,
  rankOf,
  searchedTables,
  type SearchPosition,
  type SearchWindow,
  type SearchedTable,
} from "../../../domain/search/item.ts";
import { isNotBeingDeleted } from "../history/deletions.ts";
import { containsWords, levelPatterns } from "./patterns.ts";

/** Later than all times. */
const end = Number.MAX_SAFE_INTEGER;

/** One select list for all tables, with the names that `isNotBeingDeleted` uses for events. */
const columns: Readonly<Record<SearchedTable, RawBuilder<unknown>>> = {
  events: sql`ms, source, seq, run, null::text as status, channel, null::integer as line, summary as head, payload as body`,
  logs: sql`at_ms as ms, source, n as seq, run, null::text as status, null::text as channel, place as line, null::text as head,
    record as body`,
  runs: sql`started_ms as ms, source, n as seq, id as run, case when failed then 'failed' else 'succeeded' end as status, null::text as channel,
    null::integer as line, null::text as head, summary as body`,
  workflow_runs: sql`started_ms as ms, workflow as source, n as seq, id as run, status, null::text as channel, null::integer as line,
    reason as head, error as body`,
};
const keys: Readonly<
  Record<SearchedTable, readonly [time: RawBuilder<unknown>, emitter: RawBuilder<unknown>, number: RawBuilder<unknown>]>
> = {
  events: [sql`ms`, sql`source`, sql`seq`],
  logs: [sql`at_ms`, sql`source`, sql`n`],
  runs: [sql`started_ms`, sql`source`, sql`n`],
  workflow_runs: [sql`started_ms`, sql`workflow`, sql`n`],
};

const newestFirst = sql`ms desc, rank desc, source desc, seq desc`;

/**
 * The rows of a window: of each table the newest behind the position, merged, and of these the first `rows`. Only then their texts are
 * compared, until there are `limit` candidates:
 *
 *     (owner, time) ──▶ newest rows of each table ──▶ newest of all ──▶ compare ──▶ candidates, and the last row
 *
 * The last row is always returned, so that the next window begins behind it. The text of the statement depends on few things, so that Postgres
 * plans it once.
 */
export function windowStatement(window: SearchWindow): RawBuilder<unknown> {
  const { rows, limit } = window;
  const condition = matches(window);
  const isLast = sql`place = ${sql.lit(rows)}`;
  const branches = searchedTables.map((table) => newestOf(table, window));
  return sql`
    select rank, ms, source, seq, run, status, channel, line, left(head, ${sql.lit(maxSearchedHead)}) as head, ${beginning} as body,
      ${isLast} as is_last, not ${isLast} or (${condition}) as is_match
    from (
      select page.*, row_number() over (order by ${newestFirst}) as place from (
        select * from (${sql.join(branches, sql` union all `)}) tables order by ${newestFirst} limit ${sql.lit(rows)}
      ) page
    ) events
    where ${isLast} or (${condition})
    order by place limit ${limit + 1}`;
}

/** Of the owners, or of the few emitters that the query names, whatever else the owners have. */
function newestOf(table: SearchedTable, { query, owners, emitters, isByOwner, after, rows }: SearchWindow): RawBuilder<unknown> {
  const [time, emitter, number] = keys[table];
  const from = after === undefined ? startOf(query) : { ...after, rank: rankOf(after.table) };
  const readsEmitters = emitters !== undefined && !isByOwner;
  const lists = sql`unnest(${readsEmitters ? emitters : owners}::text[])`;
  const isOf = readsEmitters ? sql`${emitter} = asked.id and owner = any(${owners}::text[])` : sql`owner = asked.id`;
  return sql`(select ${sql.lit(rankOf(table))} as rank, found.* from ${lists} as asked (id) cross join lateral (
      select ${columns[table]} from ${sql.table(table)}
      where ${isOf} and ${time} <= ${from.at}::bigint and ${time} >= ${query.afterMs ?? -end}::bigint
        and (${time}, ${sql.lit(rankOf(table))}, ${emitter}, ${number}) < (${from.at}::bigint, ${from.rank}::integer, ${from.emitter}::text, ${from.number}::bigint)
        and ${isWanted(table, query)}
      order by ${time} desc, ${emitter} desc, ${number} desc limit ${sql.lit(rows)}
    ) found)`;
}

/** Behind it are all rows before the time of the query, or all. */
const startOf = ({ beforeMs }: SearchWindow["query"]) =>
  beforeMs === undefined
    ? { at: end, rank: searchedTables.length, emitter: "", number: 0 }
    : { at: beforeMs, rank: -1, emitter: "", number: 0 };

function isWanted(table: SearchedTable, { events, logs, runs }: SearchWindow["query"]): RawBuilder<unknown> {
  if (table === "events") return sql`${events}::boolean`;
  if (table === "logs") return sql`${logs}::boolean`;
  return sql`${runs !== "none"}::boolean`;
}

/** Of a failed run of a source, the error and what follows it. */
const text = sql`case when rank = ${sql.lit(rankOf("runs"))} then
    case when status = 'failed' then '{' || substr(body, position('"error":{' in body), ${sql.lit(maxSearchedText)}) else '' end
  else body end`;
const beginning = sql`left(${text}, ${sql.lit(maxSearchedText)})`;
/** Of a line without its kind, which looks like a word. */
const compared = sql`case when rank = ${sql.lit(rankOf("logs"))} then substr(${beginning}, position('"ts":' in left(body, 512))) else ${beginning} end`;

/** Conditions on a row of the window. Those on texts are rough. */
function matches({ query, emitters }: SearchWindow): RawBuilder<unknown> {
  const { words, levels, statuses, run, channel, runs } = query;
  const searched = sql`coalesce(left(head, ${sql.lit(maxSearchedHead)}), '') || E'\n' || coalesce(${compared}, '')`;
  const conditions = [
    sql`(${run ?? null}::text is null or run = ${run ?? null}::text)`,
    sql`(${emitters ?? null}::text[] is null or source = any(${emitters ?? null}::text[]))`,
    sql`(${channel ?? null}::text is null or channel = ${channel ?? null}::text)`,
    sql`(${runs !== "failed"}::boolean or status is null or status = 'failed')`,
    sql`(${levels === undefined ? null : levelPatterns(levels)}::text[] is null or rank <> ${sql.lit(rankOf("logs"))}
      or left(body, 512) like any(${levels === undefined ? null : levelPatterns(levels)}::text[]))`,
    containsWords(searched, words),
    sql`(rank <> ${sql.lit(rankOf("events"))} or ${isNotBeingDeleted(sql`events.source`)})`,
    sql`(${statuses ?? null}::text[] is null or (case when status is not null then status = any(${statuses ?? null}::text[]) else ${isOfRun(statuses)} end))`,
  ];
  return sql.join(conditions, sql` and `);
}

/** Whether the event or line is of a run in one of these states. */
const isOfRun = (statuses: SearchWindow["query"]["statuses"]): RawBuilder<unknown> => sql`(
    exists (select from workflow_runs ran where ran.id = events.run and ran.workflow = events.source and ran.status = any(${statuses ?? null}::text[]))
    or exists (select from runs ran where ran.id = events.run and ran.source = events.source
      and case when ran.failed then 'failed' else 'succeeded' end = any(${statuses ?? null}::text[])))`;

export interface WindowRow {
  readonly rank: number;
  readonly ms: number;
  readonly source: string;
  readonly seq: number;
  readonly run: string;
  readonly status: string | null;
  readonly channel: string | null;
  readonly line: number | null;
  readonly head: string | null;
  readonly body: string | null;
  /** It is the last row of a full window. */
  readonly is_last: boolean;
  readonly is_match: boolean;
}

export const positionOf = ({ rank, ms, source, seq }: WindowRow): SearchPosition => ({
  at: ms,
  table: searchedTables[rank] ?? "events", // As the statement says.
  emitter: source,
  number: seq,
});

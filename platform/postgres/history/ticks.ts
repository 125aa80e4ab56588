import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Commit } from "../../../domain/run/commit.ts";
import { parseEventId } from "../../../domain/event/event-id.ts";
import type { PageRequest } from "../../../domain/page.ts";
import { skipReasons, type SkipReason, type Tick } from "../../../domain/schedule/ticks.ts";
import type { Tables, TickTable } from "../tables.ts";
import { column, integerColumn, optionalColumn } from "../columns.ts";
import type { StoredPage } from "./events.ts";

interface Sequenced {
  readonly seq: number;
  readonly commit: Commit;
}

export interface TickRow extends Sequenced {
  readonly dueAt: number;
  /** True: it became the commit's run; false: it was skipped before. */
  readonly isRun: boolean;
  readonly reason?: SkipReason;
}

/** Event ids have 15 digits for the time. Runners execute user code and may forge others. */
const isTime = (ms: number): boolean => ms >= 0 && ms < 1e15;

/** Ticks reported by a commit, in order of due time. All commits of a workflow run are those of one tick. */
export function tickRows({ seq, commit }: Sequenced): TickRow[] {
  if (commit.workflow !== undefined && commit.workflow.number > 1) return [];
  const { trigger, dueAt, skippedTicks = [], missedTicks = [] } = commit.run;
  const skipped = [
    ...skippedTicks.map((due): TickRow => ({ seq, commit, dueAt: due, isRun: false })),
    ...missedTicks.map((due): TickRow => ({ seq, commit, dueAt: due, isRun: false, reason: "missed" })),
  ];
  const ran = trigger === "timer" && dueAt !== undefined ? [{ seq, commit, dueAt, isRun: true }] : [];
  return [...skipped, ...ran].filter((row) => isTime(row.dueAt)).sort((a, b) => a.dueAt - b.dueAt);
}

/** For commits in `live`. */
export function insertTicks(rows: readonly TickRow[]): RawBuilder<unknown> {
  return sql`
    insert into ticks (source, due_ms, run, started_ms, reason)
    select row.source, row.due_ms, row.run, case when row.run is null then null else row.started_ms end, row.reason
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, ({ commit }) => commit.source)}::text[],
      ${integerColumn(rows, ({ dueAt }) => dueAt)}::bigint[],
      ${optionalColumn(rows, ({ isRun, commit }) => (isRun ? commit.run.id : null))}::text[],
      ${integerColumn(rows, ({ commit }) => commit.run.startedAt)}::bigint[], ${optionalColumn(rows, ({ reason }) => reason ?? null)}::text[]
    ) with ordinality as row (commit_seq, source, due_ms, run, started_ms, reason, place)
    where row.commit_seq in (select commit_seq from live)
    order by row.place`;
}

/** Newest first. The cursor's tick need not exist: ids are ordered. */
export async function pageTicks(
  db: Kysely<Tables>,
  source: string,
  { limit, cursor }: PageRequest,
  keep: number,
): Promise<StoredPage<Tick>> {
  const backwards = cursor?.side === "before";
  const beyond = cursor === null ? sql`true` : sql`(due_ms, n) ${backwards ? sql`>` : sql`<`} ${pair(cursor.id)}`;
  const { rows } = await sql<Found>`
    with kept as (select due_ms, n, run, started_ms, reason from ticks where source = ${source} order by due_ms desc, n desc limit ${keep})
    select counted.total, found.* from (select count(*) as total from kept) counted left join (
      select * from kept where ${beyond} order by ${backwards ? sql`due_ms, n` : sql`due_ms desc, n desc`} limit ${limit}
    ) found on true
    order by found.due_ms desc, found.n desc`.execute(db);
  return { items: rows.filter(({ n }) => n !== null).map(tickFrom), total: rows[0]?.total ?? 0 };
}

type Found = Pick<TickTable, "due_ms" | "run" | "started_ms" | "reason"> & { readonly n: number | null; readonly total: number };

function tickFrom({ due_ms, n, run, started_ms, reason }: Found): Tick {
  const skipReason = skipReasons.find((each) => each === reason);
  return {
    id: `${due_ms}-${n}`,
    dueAt: due_ms,
    run: run === null || started_ms === null ? null : { id: run, startedAt: started_ms },
    ...(skipReason === undefined ? {} : { skipReason }),
  };
}

/** The two numbers of an id, in the format of an event's. */
function pair(id: string): RawBuilder<unknown> {
  const { ms, sequence } = parseEventId(id);
  return sql`(${ms}::bigint, ${sequence}::bigint)`;
}

import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Ancestor, Found, RunKey, TraceRecords } from "../../../../api/traces/ports.ts";
import { isEventId, parseEventId } from "../../../../domain/event/event-id.ts";
import type { Database } from "../../connection.ts";
import type { Tables } from "../../tables.ts";
import { isNotBeingDeleted } from "../deletions.ts";
import {
  attemptFrom,
  eventColumns,
  eventFrom,
  runFrom,
  sourceRun,
  stepColumns,
  stepFrom,
  workflowRun,
  type AttemptRow,
  type EventRow,
  type RunRow,
} from "./rows.ts";

/** More runs with one id, or attempts at one delivery, are forged. */
const maxFound = 100;
/** An event is not older than its run, unless the clock of the runner was set back. */
const clockToleranceMs = 60_000;

/** Reads level by level: each method is one statement, whose work is bounded by its limit and by what the history keeps of each source. */
export function createTraceRecords({ db }: Pick<Database, "db">): TraceRecords {
  return {
    async findRuns(id, owners) {
      const rows = await read<RunRow>(
        db,
        sql`(select ${sourceRun} from (
            select * from runs where id = ${id} order by owner = any(${owners}::text[]) desc, n desc limit ${maxFound}
          ) runs) union all (
            select ${workflowRun} from workflow_runs where id = ${id} order by owner = any(${owners}::text[]) desc limit ${maxFound})`,
      );
      return rows.map(runFrom);
    },
    async findEvent(emitter, id) {
      if (!isEventId(id)) return undefined;
      const { ms, sequence } = parseEventId(id);
      const rows = await read<EventRow>(
        db,
        sql`select ${eventColumns} from events
          where source = ${emitter} and ms = ${ms} and seq = ${sequence} and ${isNotBeingDeleted(sql`${emitter}`)}`,
      );
      return rows.map(eventFrom)[0];
    },
    async findDelivery(delivery, owners) {
      const rows = await read<AttemptRow>(
        db,
        sql`(select ${attempt} from attempts where delivery = ${delivery} order by ${isOf(owners)} desc, attempt desc limit ${maxFound})
          union all (${deadWithoutAttempts} and delivery = ${delivery})`,
      );
      return rows.map(attemptFrom);
    },
    async findDeliveriesOf(emitId, owners) {
      const rows = await read<AttemptRow>(
        db,
        sql`(select ${attempt} from attempts where ${emitOf} = ${emitId} order by ${isOf(owners)} desc, n limit ${maxFound})
          union all (${deadWithoutAttempts} and ${emitOf} = ${emitId} order by ${isOf(owners)} desc, n limit ${maxFound})`,
      );
      return rows.map(attemptFrom);
    },
    ancestors: (run, limit) => ancestorsOf(db, run, limit),
    async runs(keys) {
      if (keys.length === 0) return [];
      const asked = sql`unnest(${keys.map(({ emitter }) => emitter)}::text[], ${keys.map(({ run }) => run)}::text[]) as asked (emitter, run)`;
      const rows = await read<RunRow>(
        db,
        sql`select found.* from ${asked} cross join lateral (
          (select ${sourceRun} from (select * from runs where id = asked.run and source = asked.emitter order by n desc limit 1) runs)
          union all (select ${workflowRun} from workflow_runs where workflow = asked.emitter and id = asked.run)
        ) found`,
      );
      return rows.map(runFrom);
    },
    ...levels(db),
  };
}

/** What is below each of several parents. */
function levels(db: Kysely<Tables>): Pick<TraceRecords, "steps" | "events" | "caused" | "deliveries"> {
  return {
    steps: (runs, limit) =>
      below(
        db,
        pairs(runs.map(({ emitter, run }) => [emitter, run])),
        sql`select ${stepColumns} from workflow_steps where workflow = asked.one and run = asked.other order by number`,
        sql`number`,
        limit,
        stepFrom,
      ),
    events: (runs, limit) =>
      below(
        db,
        sql`unnest(
          ${runs.map(({ emitter }) => emitter)}::text[], ${runs.map(({ run }) => run)}::text[],
          ${runs.map(({ startedAt }) => Math.trunc(startedAt) - clockToleranceMs)}::bigint[]
        ) with ordinality as asked (one, other, since, place)`,
        sql`select ${eventColumns} from events
          where source = asked.one and ms >= asked.since and run = asked.other and ${isNotBeingDeleted(sql`asked.one`)} order by ms, seq`,
        sql`ms, seq`,
        limit,
        eventFrom,
      ),
    caused: (causes, limit) =>
      below(
        db,
        pairs(causes.map(({ emitter, emitId }) => [emitter, emitId])),
        sql`(select ${sourceRun} from runs where cause_emitter = asked.one and cause_emit_id = asked.other limit ${limit})
          union all (select ${workflowRun} from workflow_runs where cause_emitter = asked.one and cause_emit_id = asked.other limit ${limit})`,
        sql`n`,
        limit,
        runFrom,
      ),
    deliveries: (subjects, limit) =>
      below(
        db,
        pairs(subjects.map(({ source, emitId }) => [source, emitId])),
        sql`(select ${attempt} from attempts where source = asked.one and ${emitOf} = asked.other order by n limit ${limit})
          union all (${deadWithoutAttempts} and source = asked.one and ${emitOf} = asked.other limit ${limit})`,
        sql`n`,
        limit,
        attemptFrom,
      ),
  };
}

const attempt = sql`webhook, delivery, n, source, event, record, null::bigint as died_ms`;
const deadWithoutAttempts = sql`select webhook, delivery, n, source, event, record, died_ms from dead_letters
  where not exists (select from attempts where attempts.delivery = dead_letters.delivery)`;

/** As the index has it. */
const emitOf = sql`split_part(delivery, '.', 1)`;

/** In a text that JSON.stringify wrote, only a member can match: within strings, quotes are escaped. */
const isOf = (owners: readonly string[]): RawBuilder<unknown> =>
  sql`exists (select from unnest(${owners.map((owner) => `"owner":${JSON.stringify(owner)}`)}::text[]) as own where strpos(record, own) > 0)`;

const pairs = (of: readonly (readonly [string, string])[]): RawBuilder<unknown> =>
  sql`unnest(${of.map(([one]) => one)}::text[], ${of.map(([, other]) => other)}::text[]) with ordinality as asked (one, other, place)`;

/**
 * Rows of each parent, in order of the parents. The inner limit ends the loop over the parents once there are enough rows; ordered first,
 * all rows of all parents would be read.
 *
 * @param rows of one parent, of `asked`
 */
async function below<Row, Result>(
  db: Kysely<Tables>,
  asked: RawBuilder<unknown>,
  rows: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  limit: number,
  from: (row: Row) => Result,
): Promise<readonly Found<Result>[]> {
  const found = await read<Row & { place: number }>(
    db,
    sql`select * from (
        select asked.place, found.* from ${asked} cross join lateral (select * from (${rows}) each limit ${limit}) found limit ${limit}
      ) chosen order by place, ${order}`,
  );
  return found.map((row) => ({ of: row.place - 1, row: from(row) }));
}

const read = async <Row>(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<Row[]> =>
  (await sql<Row>`${statement}`.execute(db)).rows;

interface AncestorRow extends Pick<EventRow, "channel" | "summary"> {
  readonly cause_emitter: string;
  readonly cause_emit_id: string;
  readonly run: string | null;
  /** Null: the event is not stored. */
  readonly ms: number | null;
  readonly seq: number;
}

/**
 * One statement for the whole chain. The cause of a called run is the call, whose id is made of that of the run that has called it: see
 * domain/workflow/call.ts.
 */
async function ancestorsOf(db: Kysely<Tables>, { emitter, run }: RunKey, limit: number): Promise<readonly Ancestor[]> {
  const rows = await read<AncestorRow>(
    db,
    sql`with recursive chain as (
        select 0 as depth, null::text as cause_emitter, null::text as cause_emit_id, ${emitter}::text as emitter, ${run}::text as run,
          null::bigint as ms, null::bigint as seq, null::text as channel, null::text as summary
        union all
        select chain.depth + 1, cause.cause_emitter, cause.cause_emit_id, cause.cause_emitter,
          coalesce(event.run, substring(cause.cause_emit_id from '^(r_[0-9A-Za-z_]+)-c[0-9]+$')), event.ms, event.seq, event.channel, event.summary
        from chain cross join lateral (
          (select cause_emitter, cause_emit_id from runs where id = chain.run and source = chain.emitter order by n desc limit 1)
          union all (select cause_emitter, cause_emit_id from workflow_runs where workflow = chain.emitter and id = chain.run)
        ) cause left join lateral (
          select ms, seq, channel, left(summary, 200) as summary, run from events
          where source = cause.cause_emitter and emit_id = cause.cause_emit_id and ${isNotBeingDeleted(sql`cause.cause_emitter`)} limit 1
        ) event on true
        where chain.depth < ${limit} and cause.cause_emit_id is not null
      )
      select * from chain where depth > 0 order by depth`,
  );
  return rows.map((row) => {
    const cause = { emitter: row.cause_emitter, emitId: row.cause_emit_id };
    const { ms, run: emittedBy } = row;
    const event =
      ms === null || emittedBy === null
        ? undefined
        : eventFrom({ ...row, ms, run: emittedBy, source: row.cause_emitter, emit_id: row.cause_emit_id });
    return { cause, event, run: emittedBy === null ? undefined : { emitter: row.cause_emitter, run: emittedBy } };
  });
}

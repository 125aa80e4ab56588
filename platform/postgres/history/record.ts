import { sql, type Kysely, type RawBuilder } from "kysely";
import { logPlace } from "../../../domain/run/derived-events.ts";
import { maxStoredReceived, type Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { isEventId, parseEventId } from "../../../domain/event/event-id.ts";
import type { LogRecord } from "../../../domain/run-products.ts";
import { dayOf } from "../../../domain/limits/quota.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { computeMsOf } from "../../../domain/measures/count.ts";
import { traceIdOf } from "../../../domain/traces.ts";
import { isScheduled } from "../../../domain/schedule/scheduled-event.ts";
import type { Tables } from "../tables.ts";
import { column, integerColumn, lastOfEach, optionalColumn } from "../columns.ts";
import { addCommits } from "../measures/add.ts";
import type { Kept } from "./kept.ts";
import { countErrors, errorRows } from "../mail/record-errors.ts";
import { insertScheduled, scheduledRows } from "./scheduled.ts";
import { insertTicks, tickRows } from "./ticks.ts";
import { insertSteps, upsertRuns, workflowRunRows, workflowStepRows } from "./workflows/record.ts";

/** A commit with its sequence in the stream. */
export interface SequencedCommit {
  readonly seq: number;
  readonly commit: Commit;
}

interface RunRow extends SequencedCommit {
  readonly summary: string;
}
interface EventRow extends SequencedCommit {
  readonly event: CommittedEvent;
}
interface LogRow extends SequencedCommit {
  readonly log: LogRecord;
  /** See `logPlace`. */
  readonly place: number;
}

export interface RecordOptions {
  readonly kept: Kept;
  /** Whether errors are stored to be mailed. */
  readonly mailsErrors: boolean;
}

/** Expected position per partition; absent: any. */
export type ExpectedPositions = ReadonlyMap<number, number>;

/**
 * Writes the rows of a batch and the positions of its partitions in one statement, so one transaction and one round trip. Skips partitions
 * with an unexpected position, and commits up to the position: the position's row is locked, so a repeated batch or a second recorder adds
 * nothing and leaves no gap.
 *
 * Returns the partitions that were skipped because their position differs or is missing.
 */
export async function recordBatch(
  db: Kysely<Tables>,
  stream: string,
  batch: readonly SequencedCommit[],
  { kept, mailsErrors }: RecordOptions,
  expected: ExpectedPositions,
): Promise<readonly number[]> {
  const last = lastOfPartitions(batch);
  const partitions = [...last.keys()];
  const { rows } = await sql<{ partition: number; seq: number | null }>`
    with expected as (
      select * from unnest(
        ${partitions}::integer[], ${partitions.map((partition) => expected.get(partition) ?? null)}::bigint[], ${[...last.values()]}::bigint[]
      ) as expected (partition, before, last)
    ),
    position as (
      select recorded.partition, recorded.seq, expected.last
      from recorder_partitions recorded join expected on expected.partition = recorded.partition
      where recorded.stream = ${stream} and (expected.before is null or expected.before = recorded.seq)
      order by recorded.partition for update of recorded
    ),
    -- Not recorded yet.
    unrecorded as (
      select given.commit_seq, given.source from unnest(
        ${batch.map(({ seq }) => seq)}::bigint[], ${column(batch, sourceOf)}::text[], ${batch.map(partitionOfCommit)}::integer[]
      ) as given (commit_seq, source, partition) join position on position.partition = given.partition
      where given.commit_seq > position.seq
    ),
    live as (
      select commit_seq from unrecorded where not exists (select 1 from ended_sources where ended_sources.source = unrecorded.source)
    ),
    ${recordWorkflows(batch)}
    ${mailsErrors ? recordErrors(batch) : sql``}
    new_events as (${insertEvents(lastOfEach(batch.flatMap(eventRows), sourceOf, kept.events))}),
    new_scheduled as (${insertScheduled(batch.flatMap(scheduledRows))}),
    new_runs as (${insertRuns(lastOfEach(batch.flatMap(runRows), sourceOf, kept.runs))}),
    new_logs as (${insertLogs(lastOfEach(batch.flatMap(logRows), sourceOf, kept.logs))}),
    new_ticks as (${insertTicks(lastOfEach(batch.flatMap(tickRows), sourceOf, kept.ticks))}),
    new_usage as (${addUsage(batch)} returning 1),
    new_measures as (${addCommits(batch, usageFirst)}),
    -- Reads the position first: the row can be locked above only before it is changed here.
    moved as (
      update recorder_partitions set seq = position.last from position
      where recorder_partitions.stream = ${stream} and recorder_partitions.partition = position.partition and position.seq < position.last
    )
    select expected.partition, position.seq from expected left join position on position.partition = expected.partition`.execute(db);
  return rows.filter(({ seq }) => seq === null).map(({ partition }) => partition);
}

/** Adds missing positions: that of the whole stream, recorded by an earlier version, or 0. @returns the partitions that had none */
export async function addPositions(db: Kysely<Tables>, stream: string, partitions: readonly number[]): Promise<readonly number[]> {
  const { rows } = await sql<{ partition: number }>`
    insert into recorder_partitions (stream, partition, seq)
    select ${stream}, partition, coalesce((select seq from recorder_positions where stream = ${stream}), 0)
    from unnest(${partitions}::integer[]) as added (partition)
    on conflict do nothing returning partition`.execute(db);
  return rows.map(({ partition }) => partition);
}

/** Last sequence per partition of a batch. */
export function lastOfPartitions(batch: readonly SequencedCommit[]): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (const each of batch) {
    const partition = partitionOfCommit(each);
    last.set(partition, Math.max(each.seq, last.get(partition) ?? 0));
  }
  return last;
}

const sourceOf = ({ commit }: SequencedCommit): string => commit.source;
export const partitionOfCommit = ({ commit }: SequencedCommit): number => partitionOf(commit.source);

function eventRows({ seq, commit }: SequencedCommit): EventRow[] {
  // Runners execute user code: an invalid id is skipped instead of trusted, and must not stop the recorder.
  return commit.events.filter((event) => isEventId(event.id) && !isScheduled(event)).map((event) => ({ seq, commit, event }));
}

function logRows({ seq, commit }: SequencedCommit): LogRow[] {
  return commit.logs.map((log, index) => ({ seq, commit, log, place: logPlace(commit, index) }));
}

/** Runs of sources. Those of workflows have tables of their own. */
function runRows({ seq, commit }: SequencedCommit): RunRow[] {
  const { source, error, workflow } = commit;
  if (workflow !== undefined) return [];
  // The ticks are stored apart. What may be long is last: of a long summary, traces read only the beginning.
  const { skippedTicks: _, missedTicks: _missed, cause, dbChanges, result, received, ...run } = commit.run;
  const eventIds = commit.events.map(({ id }) => id);
  const kept = received === undefined || received.length > maxStoredReceived ? {} : { received };
  return [
    { seq, commit, summary: JSON.stringify({ ...run, ...traceOf(commit), source, cause, dbChanges, error, eventIds, result, ...kept }) },
  ];
}

const traceOf = ({ traceparent }: Commit) => (traceparent === undefined ? {} : { traceId: traceIdOf(traceparent) });

/** The part of the statement for workflows; nothing in a batch without any, which is most of them. */
function recordWorkflows(batch: readonly SequencedCommit[]): RawBuilder<unknown> {
  const rows = batch.flatMap(workflowRunRows);
  if (rows.length === 0) return sql``;
  return sql`new_workflow_runs as (${upsertRuns(rows)}), new_workflow_steps as (${insertSteps(rows.flatMap(workflowStepRows))}),`;
}

/** The part of the statement for mails about errors. */
function recordErrors(batch: readonly SequencedCommit[]): RawBuilder<unknown> {
  const rows = batch.flatMap(errorRows);
  return rows.length === 0 ? sql`` : sql`new_error_mails as (${countErrors(rows)}),`;
}

function insertEvents(rows: readonly EventRow[]): RawBuilder<unknown> {
  return sql`
    insert into events (source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run, owner)
    select row.source, row.ms, row.seq, row.emit_id, row.channel, row.dedupe_id, row.summary, row.ts, row.payload, row.run, row.owner
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, sourceOf)}::text[],
      ${integerColumn(rows, ({ event }) => parseEventId(event.id).ms)}::bigint[], ${integerColumn(rows, ({ event }) => parseEventId(event.id).sequence)}::bigint[],
      ${column(rows, ({ event }) => event.emitId)}::text[], ${column(rows, ({ event }) => event.channel)}::text[],
      ${optionalColumn(rows, ({ event }) => event.dedupeId)}::text[], ${optionalColumn(rows, ({ event }) => event.summary)}::text[],
      ${integerColumn(rows, ({ event }) => event.ts)}::bigint[], ${column(rows, ({ event }) => event.payload)}::text[],
      ${column(rows, ({ commit }) => commit.run.id)}::text[], ${column(rows, ({ commit }) => commit.owner)}::text[]
    ) as row (commit_seq, source, ms, seq, emit_id, channel, dedupe_id, summary, ts, payload, run, owner)
    where row.commit_seq in (select commit_seq from live)
    on conflict do nothing`;
}

function insertRuns(rows: readonly RunRow[]): RawBuilder<unknown> {
  return sql`
    insert into runs (source, id, owner, deployment, started_ms, failed, summary, cause_emitter, cause_emit_id)
    select row.source, row.id, row.owner, row.deployment, row.started_ms, row.failed, row.summary, row.cause_emitter, row.cause_emit_id
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, sourceOf)}::text[], ${column(rows, ({ commit }) => commit.run.id)}::text[],
      ${column(rows, ({ commit }) => commit.owner)}::text[], ${column(rows, ({ commit }) => commit.deployment)}::text[],
      ${integerColumn(rows, ({ commit }) => commit.run.startedAt)}::bigint[], ${rows.map(({ commit }) => commit.error !== null)}::boolean[],
      ${column(rows, ({ summary }) => summary)}::text[], ${optionalColumn(rows, ({ commit }) => commit.run.cause?.emitter ?? null)}::text[],
      ${optionalColumn(rows, ({ commit }) => commit.run.cause?.emitId ?? null)}::text[]
    ) with ordinality as row (commit_seq, source, id, owner, deployment, started_ms, failed, summary, cause_emitter, cause_emit_id, place)
    where row.commit_seq in (select commit_seq from live)
    order by row.place`;
}

function insertLogs(rows: readonly LogRow[]): RawBuilder<unknown> {
  return sql`
    insert into logs (source, run, record, place, owner, at_ms)
    select row.source, row.run, row.record, row.place, row.owner, row.at_ms
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${column(rows, sourceOf)}::text[], ${column(rows, ({ commit }) => commit.run.id)}::text[],
      ${column(rows, ({ log }) => JSON.stringify(log))}::text[], ${rows.map(({ place }) => place)}::integer[],
      ${column(rows, ({ commit }) => commit.owner)}::text[], ${integerColumn(rows, ({ log }) => log.ts)}::bigint[]
    ) with ordinality as row (commit_seq, source, run, record, place, owner, at_ms, line)
    where row.commit_seq in (select commit_seq from live)
    order by row.line`;
}

/** Usage before measures, as in `insertAttempts`: statements that change both in one order cannot block each other. */
export const usageFirst = sql`(select count(*) from new_usage) >= 0`;

/**
 * Runs of a deleted source also count as usage, although nothing else of them is stored. A run of a workflow counts with its first commit,
 * and each commit adds the time of its step.
 */
function addUsage(batch: readonly SequencedCommit[]): RawBuilder<unknown> {
  const runs = ({ commit: { workflow } }: SequencedCommit): number => (workflow === undefined || workflow.number === 1 ? 1 : 0);
  const startedAt = ({ commit: { run, workflow } }: SequencedCommit): number => workflow?.step?.startedAt ?? run.startedAt;
  return sql`
    insert into usage (owner, day_ms, runs, compute_ms, events)
    select row.owner, row.day_ms, sum(row.runs), sum(row.compute_ms), sum(row.events)
    from unnest(
      ${batch.map(({ seq }) => seq)}::bigint[], ${column(batch, ({ commit }) => commit.owner)}::text[],
      ${integerColumn(batch, (each) => dayOf(startedAt(each)).startMs)}::bigint[], ${integerColumn(batch, runs)}::bigint[],
      ${integerColumn(batch, ({ commit }) => computeMsOf(commit))}::bigint[], ${batch.map(({ commit }) => commit.events.length)}::bigint[]
    ) as row (commit_seq, owner, day_ms, runs, compute_ms, events)
    where row.commit_seq in (select commit_seq from unrecorded)
    group by row.owner, row.day_ms
    -- Recorders of other partitions count for the same owners: in one order they cannot block each other.
    order by row.owner, row.day_ms
    on conflict (owner, day_ms) do update set runs = usage.runs + excluded.runs, compute_ms = usage.compute_ms + excluded.compute_ms,
      events = usage.events + excluded.events`;
}

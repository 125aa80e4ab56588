import { sql, type Kysely } from "kysely";
import { errorEvent, type DerivedEvent } from "../../../../domain/run/derived-events.ts";
import type { Trigger } from "../../../../domain/trigger.ts";
import { unknownCursor, type PageRequest } from "../../../../domain/page.ts";
import type { LogRecord, RunError } from "../../../../domain/run-products.ts";
import type { RecordedAttempt, RecordedWorkflowRun, WorkflowRunDetails } from "../../../../domain/workflow/recorded-run.ts";
import type { FilesOfStep } from "../../../../domain/workflow/run-commit.ts";
import type { RunStatus } from "../../../../domain/workflow/run-state.ts";
import type { Tables } from "../../tables.ts";
import { boundedRows, leftBehind } from "../../bounded-rows.ts";
import { isNotBeingDeleted } from "../deletions.ts";
import type { DerivedEntry, StoredPage } from "../events.ts";
import type { WorkflowRunTable, WorkflowStepTable } from "./tables.ts";

type Row = Omit<WorkflowRunTable, "n" | "event">;

const columns = sql`workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, resume_at_ms, step_count, steps_done, compute_ms,
  cause_emitter, cause_emit_id, repeats, reason, failed_step, error`;

/** Newest first; the cursor is a run's id. @throws InvalidInput when that run is no longer stored */
export async function pageWorkflowRuns(
  db: Kysely<Tables>,
  workflow: string,
  { limit, cursor, status, maxBytes }: PageRequest & { readonly status?: RunStatus },
): Promise<StoredPage<RecordedWorkflowRun>> {
  const backwards = cursor?.side === "before";
  const from = cursor === null ? undefined : await positionOf(db, workflow, cursor.id);
  const beyond = from === undefined ? sql`true` : sql`n ${backwards ? sql`>` : sql`<`} ${from}`;
  const listed = sql`workflow_runs where workflow = ${workflow} and ${status === undefined ? sql`true` : sql`status = ${status}`}`;
  const newest = sql`select n, ${columns} from ${listed} and ${beyond} order by ${backwards ? sql`n` : sql`n desc`} limit ${limit}`;
  const { rows } = await sql<Row & { n: number | null; total: number; rows_left: number | null }>`
    select counted.total, found.* from (select count(*) as total from ${listed}) counted left join (
      select * from ${boundedRows({ rows: newest, bytes: sql`coalesce(octet_length(page.error), 0) + 1000`, order: sql`n desc`, maxBytes })} bounded
    ) found on true
    order by found.n desc`.execute(db);
  return { items: rows.filter(({ n }) => n !== null).map(runFrom), total: rows[0]?.total ?? 0, ...leftBehind(rows) };
}

async function positionOf(db: Kysely<Tables>, workflow: string, id: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select n from workflow_runs where workflow = ${workflow} and id = ${id}`.execute(db);
  if (rows[0] === undefined) throw unknownCursor(id);
  return rows[0].n;
}

export async function findWorkflowRun(db: Kysely<Tables>, workflow: string, id: string): Promise<WorkflowRunDetails | undefined> {
  const { rows } = await sql<Row & { event: string | null; cause_event: string | null }>`
    select ${columns}, event, (
      select ms || '-' || seq from events where source = cause_emitter and emit_id = cause_emit_id limit 1
    ) as cause_event
    from workflow_runs where workflow = ${workflow} and id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const [attempts, eventIds] = await Promise.all([attemptsOf(db, workflow, id), eventIdsOf(db, workflow, id)]);
  return { ...runFrom(row), event: row.event, causeEventId: row.cause_event, attempts, eventIds };
}

async function attemptsOf(db: Kysely<Tables>, workflow: string, run: string): Promise<readonly RecordedAttempt[]> {
  const { rows } = await sql<WorkflowStepTable>`
    select * from workflow_steps where workflow = ${workflow} and run = ${run} order by number`.execute(db);
  return rows.map(attemptFrom);
}

async function eventIdsOf(db: Kysely<Tables>, workflow: string, run: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select ms || '-' || seq as id from events where source = ${workflow} and run = ${run} and ${isNotBeingDeleted(workflow)}
    order by ms, seq`.execute(db);
  return rows.map(({ id }) => id);
}

/** Runs that the event started, newest first. @param owners only runs of workflows of these owners */
export async function runsOfEvent(
  db: Kysely<Tables>,
  { emitter, emitId, owners }: { readonly emitter: string; readonly emitId: string; readonly owners: readonly string[] },
  limit: number,
): Promise<readonly RecordedWorkflowRun[]> {
  const { rows } = await sql<Row>`
    select ${columns} from workflow_runs
    where cause_emitter = ${emitter} and cause_emit_id = ${emitId} and owner = any(${owners}::text[])
    order by n desc limit ${limit}`.execute(db);
  return rows.map(runFrom);
}

/** The last failed runs, the one that failed last first. */
export async function listWorkflowErrors(db: Kysely<Tables>, workflow: string, keep: number): Promise<readonly DerivedEntry[]> {
  const { rows } = await sql<DerivedEntry>`
    select n, coalesce(ended_ms, started_ms) as at, coalesce(octet_length(event), 0) + coalesce(octet_length(error), 0) as bytes from (
      select n, started_ms, ended_ms, event, error from workflow_runs
      where workflow = ${workflow} and status = 'failed' order by n desc limit ${keep}
    ) newest order by ended_ms desc, n desc`.execute(db);
  return rows;
}

/** The error events of failed runs. */
export async function readWorkflowErrors(
  db: Kysely<Tables>,
  workflow: string,
  places: readonly number[],
): Promise<readonly { readonly n: number; readonly event: DerivedEvent }[]> {
  const { rows } = await sql<FailedRow>`
    select n, id, owner, deployment, trigger, started_ms, ended_ms, event, failed_step, error from workflow_runs
    where workflow = ${workflow} and n = any(${places}::bigint[])`.execute(db);
  return rows.flatMap((row) => {
    const error = errorFrom(row.error);
    return error === null ? [] : [{ n: row.n, event: errorEvent(failedCommit(workflow, row), error) }];
  });
}

type FailedRow = Pick<
  WorkflowRunTable,
  "id" | "owner" | "deployment" | "trigger" | "started_ms" | "ended_ms" | "event" | "failed_step" | "error"
> & { readonly n: number };

/** The parts of the commit that failed the run, as far as its error event contains them. */
function failedCommit(source: string, { id, owner, deployment, trigger, started_ms, ended_ms, event, failed_step }: FailedRow) {
  const ended = { startedAt: ended_ms ?? started_ms, durationMs: 0 };
  const run = { id, trigger: trigger as Trigger, ...ended, ...(event === null ? {} : { received: event }) }; // As committed.
  return { source, owner, deployment, run, ...(failed_step === null ? {} : { workflow: { step: { id: failed_step, ...ended } } }) };
}

function runFrom(row: Row): RecordedWorkflowRun {
  const { cause_emitter: emitter, cause_emit_id: emitId } = row;
  return {
    id: row.id,
    workflow: row.workflow,
    owner: row.owner,
    deployment: row.deployment,
    trigger: row.trigger as Trigger, // As committed.
    status: row.status,
    commits: row.number,
    startedAt: row.started_ms,
    endedAt: row.ended_ms,
    resumeAt: row.resume_at_ms,
    stepCount: row.step_count,
    stepsDone: row.steps_done,
    computeMs: row.compute_ms,
    cause: emitter === null || emitId === null ? null : { emitter, emitId },
    repeats: row.repeats,
    reason: row.reason,
    failedStep: row.failed_step,
    error: errorFrom(row.error),
  };
}

function attemptFrom(row: WorkflowStepTable): RecordedAttempt {
  return {
    id: row.step,
    name: row.name,
    index: row.place,
    attempt: row.attempt,
    startedAt: row.started_ms,
    durationMs: row.duration_ms,
    cpuMs: row.cpu_ms,
    outcome: row.outcome,
    inputs: row.inputs,
    exports: row.exports,
    error: errorFrom(row.error),
    logs: JSON.parse(row.logs) as readonly LogRecord[], // Written by record.ts from this type.
    ...(row.files === null ? {} : { files: JSON.parse(row.files) as FilesOfStep }), // Checked by record.ts.
  };
}

/** Written by record.ts from this type. */
const errorFrom = (text: string | null): RunError | null => (text === null ? null : (JSON.parse(text) as RunError));

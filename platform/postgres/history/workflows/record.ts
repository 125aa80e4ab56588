import { sql, type RawBuilder } from "kysely";
import { filesOfStep } from "../../../../domain/files/schemas.ts";
import { computeMsOf } from "../../../../domain/measures/count.ts";
import { endOf } from "../../../../domain/run/derived-events.ts";
import { maxStoredReceived, type Commit } from "../../../../domain/run/commit.ts";
import type { LogRecord, RunError } from "../../../../domain/run-products.ts";
import {
  maxShownText,
  shownExports,
  stepsOf,
  type CommittedStep,
  type NumberedStep,
  type WorkflowProgress,
} from "../../../../domain/workflow/run-commit.ts";
import { traceIdOf } from "../../../../domain/traces.ts";
import { hasEnded } from "../../../../domain/workflow/run-state.ts";
import { column, integerColumn, optionalColumn, optionalIntegerColumn } from "../../columns.ts";

interface Sequenced {
  readonly seq: number;
  readonly commit: Commit;
}
interface RunRow extends Sequenced {
  readonly progress: WorkflowProgress;
}
interface StepRow extends Sequenced, NumberedStep<LogRecord> {}

const maxErrorText = 16_384;
const maxReason = 4_096;

export const workflowRunRows = ({ seq, commit }: Sequenced): RunRow[] =>
  commit.workflow === undefined ? [] : [{ seq, commit, progress: commit.workflow }];

export const workflowStepRows = ({ seq, commit, progress }: RunRow): StepRow[] =>
  stepsOf(progress, commit.logs).map((step) => ({ seq, commit, ...step }));

/** Columns that the commit with the highest number decides. */
const latest = ["number", "deployment", "status", "ended_ms", "resume_at_ms", "reason", "failed_step", "error"];

/**
 * For commits in `live`. The commits of a batch that belong to one run become one row. Its columns follow from the commit numbers, so the
 * order in which commits are recorded does not matter.
 */
export function upsertRuns(rows: readonly RunRow[]): RawBuilder<unknown> {
  const takeLatest = latest.map(
    (name) =>
      sql`${sql.ref(name)} = case when excluded.number > workflow_runs.number then ${sql.ref(`excluded.${name}`)} else ${sql.ref(`workflow_runs.${name}`)} end`,
  );
  return sql`
    insert into workflow_runs (workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, resume_at_ms, step_count, steps_done,
      compute_ms, cause_emitter, cause_emit_id, repeats, reason, event, failed_step, error, queued_ms, trace_id)
    select workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, resume_at_ms, step_count, steps_done,
      compute_ms, cause_emitter, cause_emit_id, repeats, reason, event, failed_step, error, queued_ms, trace_id
    from (
      select distinct on (workflow, id) workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, resume_at_ms, step_count,
        max(steps_done) over run as steps_done, sum(compute_ms) over run as compute_ms, max(cause_emitter) over run as cause_emitter,
        max(cause_emit_id) over run as cause_emit_id, max(repeats) over run as repeats, reason, max(event) over run as event, failed_step, error,
        max(queued_ms) over run as queued_ms, max(trace_id) over run as trace_id, min(commit_seq) over run as first_seq
      from ${given(rows)} where commit_seq in (select commit_seq from live)
      window run as (partition by workflow, id)
      order by workflow, id, number desc, commit_seq desc
    ) run order by first_seq
    on conflict (workflow, id) do update set ${sql.join(takeLatest)},
      started_ms = least(workflow_runs.started_ms, excluded.started_ms), steps_done = greatest(workflow_runs.steps_done, excluded.steps_done),
      compute_ms = workflow_runs.compute_ms + excluded.compute_ms, event = coalesce(workflow_runs.event, excluded.event),
      cause_emitter = coalesce(workflow_runs.cause_emitter, excluded.cause_emitter),
      cause_emit_id = coalesce(workflow_runs.cause_emit_id, excluded.cause_emit_id),
      repeats = coalesce(workflow_runs.repeats, excluded.repeats), queued_ms = coalesce(workflow_runs.queued_ms, excluded.queued_ms),
      trace_id = coalesce(workflow_runs.trace_id, excluded.trace_id)`;
}

function given(rows: readonly RunRow[]): RawBuilder<unknown> {
  const own = (value: (row: RunRow) => string): string[] => column(rows, value);
  return sql`
    unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${own(({ commit }) => commit.source)}::text[], ${own(({ commit }) => commit.run.id)}::text[],
      ${rows.map(({ progress }) => progress.number)}::integer[], ${own(({ commit }) => commit.owner)}::text[],
      ${own(({ commit }) => commit.deployment)}::text[], ${own(({ commit }) => commit.run.trigger)}::text[],
      ${own(({ progress }) => progress.status)}::text[], ${integerColumn(rows, ({ progress }) => progress.startedAt)}::bigint[],
      ${optionalIntegerColumn(rows, ({ commit, progress }) => (hasEnded(progress.status) ? endOf(commit) : null))}::bigint[],
      ${optionalIntegerColumn(rows, ({ progress }) => progress.resumeAt ?? null)}::bigint[],
      ${rows.map(({ progress }) => progress.stepCount)}::integer[], ${rows.map(({ progress }) => stepsDone(progress))}::integer[],
      ${integerColumn(rows, ({ commit }) => computeMsOf(commit))}::bigint[],
      ${optionalColumn(rows, ({ progress }) => progress.cause?.emitter ?? null)}::text[],
      ${optionalColumn(rows, ({ progress }) => progress.cause?.emitId ?? null)}::text[],
      ${optionalColumn(rows, ({ progress }) => progress.repeats ?? null)}::text[],
      ${optionalColumn(rows, ({ progress }) => progress.reason?.slice(0, maxReason) ?? null)}::text[],
      ${optionalColumn(rows, eventOf)}::text[], ${optionalColumn(rows, failedStep)}::text[],
      ${optionalColumn(rows, ({ commit }) => errorText(commit.error))}::text[],
      ${optionalIntegerColumn(rows, ({ progress }) => progress.queuedMs ?? null)}::bigint[],
      ${optionalColumn(rows, ({ commit }) => (commit.traceparent === undefined ? null : traceIdOf(commit.traceparent)))}::text[]
    ) as row (commit_seq, workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, resume_at_ms, step_count, steps_done,
      compute_ms, cause_emitter, cause_emit_id, repeats, reason, event, failed_step, error, queued_ms, trace_id)`;
}

/** The first commit has it, and so has the one that fails the run. */
const eventOf = ({ progress, commit }: RunRow): string | null =>
  withinBound(progress.event ?? null) ?? withinBound(commit.run.received ?? null, maxStoredReceived);

const withinBound = (text: string | null, max = maxShownText): string | null => (text === null || text.length > max ? null : text);

const failedStep = ({ commit, progress }: RunRow): string | null =>
  commit.error === null ? null : ((progress.failedStep ?? progress.step)?.id ?? null);

/** Number of steps that need not run again. */
function stepsDone({ step, before = [], status }: WorkflowProgress): number {
  const done = ({ index, outcome }: CommittedStep): number =>
    outcome !== "retried" && outcome !== "rerun" && status !== "failed" ? index + 1 : index;
  return Math.max(0, ...(step === undefined ? [] : [step]).concat(before.map((each) => each.step)).map(done));
}

/** For commits in `live`. */
export function insertSteps(rows: readonly StepRow[]): RawBuilder<unknown> {
  const own = (value: (row: StepRow) => string): string[] => column(rows, value);
  return sql`
    insert into workflow_steps (workflow, run, number, step, name, place, attempt, started_ms, duration_ms, cpu_ms, outcome, inputs, exports, error, logs, files)
    select row.workflow, row.run, row.number, row.step, row.name, row.place, row.attempt, row.started_ms, row.duration_ms, row.cpu_ms, row.outcome,
      row.inputs, row.exports, row.error, row.logs, row.files
    from unnest(
      ${rows.map(({ seq }) => seq)}::bigint[], ${own(({ commit }) => commit.source)}::text[], ${own(({ commit }) => commit.run.id)}::text[],
      ${rows.map(({ number }) => number)}::integer[], ${own(({ step }) => step.id)}::text[], ${own(({ step }) => step.name)}::text[],
      ${rows.map(({ step }) => step.index)}::integer[], ${rows.map(({ step }) => step.attempt)}::integer[],
      ${integerColumn(rows, ({ step }) => step.startedAt)}::bigint[], ${rows.map(({ step }) => step.durationMs)}::double precision[],
      ${rows.map(({ step }) => step.cpuMs)}::double precision[], ${own(({ step }) => step.outcome)}::text[],
      ${optionalColumn(rows, ({ step }) => withinBound(step.inputs))}::text[], ${own(({ step }) => shownExports(step.exports))}::text[],
      ${optionalColumn(rows, ({ step }) => errorText(step.error))}::text[], ${own(({ logs }) => logsText(logs))}::text[],
      ${optionalColumn(rows, ({ step }) => filesText(step.files))}::text[]
    ) as row (commit_seq, workflow, run, number, step, name, place, attempt, started_ms, duration_ms, cpu_ms, outcome, inputs, exports, error, logs,
      files)
    where row.commit_seq in (select commit_seq from live)
    on conflict do nothing`;
}

/** Runners may forge it. */
function filesText(files: unknown): string | null {
  const { data } = filesOfStep.safeParse(files);
  return data === undefined ? null : JSON.stringify(data);
}

function errorText(error: RunError | null): string | null {
  if (error === null) return null;
  const { name, message, stack, code } = error;
  // Runners may forge the optional fields.
  const cut = (text: unknown): string | undefined => (typeof text === "string" ? text.slice(0, maxErrorText) : undefined);
  return JSON.stringify({ name: cut(name), message: cut(message), stack: cut(stack), code: cut(code) });
}

/** The last lines, as many as fit. */
function logsText(logs: readonly LogRecord[]): string {
  const kept: string[] = [];
  let characters = 0;
  for (const record of logs.toReversed()) {
    const text = JSON.stringify(record);
    characters += text.length + 1;
    if (characters > maxShownText) break;
    kept.push(text);
  }
  const missing = logs.length - kept.length;
  const note = {
    k: "console.warn",
    ts: logs[0]?.ts ?? 0,
    msg: `${missing} earlier lines of this step are not stored: there were too many`,
  };
  return `[${[...(missing === 0 ? [] : [JSON.stringify(note)]), ...kept.reverse()].join(",")}]`;
}

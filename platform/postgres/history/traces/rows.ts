import { sql } from "kysely";
import type { Attempt } from "../../../../delivery/record/ports.ts";
import type { RunSummary } from "../../../../domain/invocation/invocation.ts";
import type { TracedAttempt, TracedEvent, TracedRun, TracedStep } from "../../../../domain/trace/records.ts";
import type { Trigger } from "../../../../domain/trigger.ts";
import { hasEnded } from "../../../../domain/workflow/run-state.ts";
import type { AttemptTable, DeadLetterTable, EventTable, RunTable } from "../../tables.ts";
import type { WorkflowRunTable, WorkflowStepTable } from "../workflows/tables.ts";

/**
 * A run's summary without what may be long. Its parts are read from the text, because only few runs have more than the 4,096 characters of
 * which each is read.
 */
const shortSummary = sql`case when length(summary) < 4096 then summary else (
  select json_object_agg(key, value)::text from json_each(summary::json) where key not in ('received', 'result', 'error', 'eventIds', 'dbChanges')) end`;

/** One select list for both kinds of runs, so that they can be read together. */
export const sourceRun = sql`source as emitter, id, n, deployment, started_ms, cause_emitter, cause_emit_id, ${shortSummary} as summary, failed,
  null::text as trigger, null::text as status, null::bigint as ended_ms, null::bigint as resume_at_ms, null::text as repeats, null::bigint as queued_ms,
  null::text as trace_id`;
export const workflowRun = sql`workflow as emitter, id, n, deployment, started_ms, cause_emitter, cause_emit_id, null::text as summary, null::boolean as failed,
  trigger, status, ended_ms, resume_at_ms, repeats, queued_ms, trace_id`;

export interface RunRow
  extends
    Pick<RunTable, "id" | "deployment" | "started_ms" | "cause_emitter" | "cause_emit_id">,
    Pick<WorkflowRunTable, "ended_ms" | "resume_at_ms" | "repeats" | "queued_ms" | "trace_id"> {
  readonly emitter: string;
  readonly summary: string | null;
  readonly failed: boolean | null;
  readonly trigger: string | null;
  readonly status: WorkflowRunTable["status"] | null;
}

export function runFrom(row: RunRow): TracedRun {
  const { emitter, id, deployment, summary, cause_emitter, cause_emit_id } = row;
  const cause = cause_emitter === null || cause_emit_id === null ? null : { emitter: cause_emitter, emitId: cause_emit_id };
  const run = { id, emitter, deployment, startedAt: row.started_ms, cause };
  if (summary === null) {
    const status = row.status ?? "running";
    const own = { status, trigger: row.trigger as Trigger, hook: null, startMs: null, cpuMs: null }; // As committed.
    const ended = { endedAt: hasEnded(status) ? row.ended_ms : null, resumeAt: row.resume_at_ms };
    return { ...run, ...own, ...ended, queuedMs: row.queued_ms, repeats: row.repeats, traceId: row.trace_id };
  }
  // Written by record.ts from this type.
  const stored = JSON.parse(summary) as RunSummary & { readonly traceId?: string };
  return {
    ...run,
    trigger: stored.trigger,
    hook: stored.hook ?? null,
    status: row.failed === true ? "failed" : "succeeded",
    endedAt: row.started_ms + stored.durationMs,
    resumeAt: null,
    queuedMs: stored.queuedMs ?? null,
    startMs: stored.startMs ?? null,
    cpuMs: stored.cpuMs,
    repeats: null,
    traceId: stored.traceId ?? null,
  };
}

const maxSummary = 200;
export const eventColumns = sql`source, ms, seq, emit_id, channel, left(summary, ${sql.lit(maxSummary)}) as summary, run`;
export type EventRow = Pick<EventTable, "source" | "ms" | "seq" | "emit_id" | "channel" | "summary" | "run">;

export const eventFrom = ({ source, ms, seq, emit_id, channel, summary, run }: EventRow): TracedEvent => ({
  emitter: source,
  id: `${ms}-${seq}`,
  emitId: emit_id,
  channel,
  summary,
  run,
});

export const stepColumns = sql`number, step, name, attempt, started_ms, duration_ms, cpu_ms, outcome`;
export type StepRow = Pick<WorkflowStepTable, "number" | "step" | "name" | "attempt" | "started_ms" | "duration_ms" | "cpu_ms" | "outcome">;

export const stepFrom = (row: StepRow): TracedStep => ({
  number: row.number,
  id: row.step,
  name: row.name,
  attempt: row.attempt,
  startedAt: row.started_ms,
  durationMs: row.duration_ms,
  cpuMs: row.cpu_ms,
  outcome: row.outcome,
});

/** An attempt, or, with `died_ms`, a dead letter. */
export interface AttemptRow extends Pick<AttemptTable, "webhook" | "delivery" | "source" | "event" | "record"> {
  readonly died_ms: DeadLetterTable["died_ms"] | null;
}

export function attemptFrom({ webhook, delivery, source, event, record, died_ms }: AttemptRow): TracedAttempt {
  const about = { delivery, listener: webhook, source, event };
  if (died_ms !== null) {
    const { channel, attempts, reason } = JSON.parse(record) as {
      readonly channel: string;
      readonly attempts: number;
      readonly reason: string;
    }; // Written by deliveries.ts.
    return { ...about, channel, attempt: attempts, at: died_ms, durationMs: 0, outcome: "dead", status: null, error: reason };
  }
  const { channel, attempt, at, durationMs, outcome, status, error } = JSON.parse(record) as Attempt; // Written by deliveries.ts.
  return { ...about, channel, attempt, at, durationMs, outcome, status, error };
}

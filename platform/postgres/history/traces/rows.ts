import { sql } from "kysely";
import type { Attempt } from "../../../../delivery/record/ports.ts";
import type { RunSummary } from "../../../../domain/invocation/invocation.ts";
import type { TracedAttempt, TracedEvent, TracedRun, TracedStep } from "../../../../domain/trace/records.ts";
import type { Trigger } from "../../../../domain/trigger.ts";
import { hasEnded } from "../../../../domain/workflow/run-state.ts";
import type { EventTable, RunTable } from "../../tables.ts";
import type { AttemptTable, DeadLetterTable } from "../delivery-tables.ts";
import type { WorkflowRunTable, WorkflowStepTable } from "../workflows/tables.ts";

/** Selects the beginning of a summary, which has all that a trace shows: a summary may have 2 MiB. */
const shortSummary = sql`left(summary, 4096)`;

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
  const stored = readSummary(summary);
  return {
    ...run,
    trigger: stored.trigger,
    hook: stored.hook ?? null,
    status: row.failed === true ? "failed" : "succeeded",
    endedAt: row.started_ms + (stored.startMs ?? 0) + stored.durationMs,
    resumeAt: null,
    queuedMs: stored.queuedMs ?? null,
    startMs: stored.startMs ?? null,
    cpuMs: stored.cpuMs,
    repeats: null,
    traceId: stored.traceId ?? null,
  };
}

type Stored = Pick<RunSummary, "trigger" | "hook" | "durationMs" | "cpuMs" | "queuedMs" | "startMs"> & { readonly traceId?: string };

/** A member of an object in JSON, if its value is no object or array, and is complete. */
const scalarMember = /("[a-zA-Z]+"):("(?:[^"\\]|\\.)*"|[\d.eE+-]+|null|true|false)[,}]/y;

/**
 * Reads a summary, or the fields at the beginning of a cut one, up to the first object or array. Postgres cannot read them: its JSON
 * functions fail for `\u0000` and half of an emoji, which texts of components may have.
 */
function readSummary(text: string): Stored {
  const members: string[] = [];
  scalarMember.lastIndex = 1; // After the brace.
  for (let found = scalarMember.exec(text); found !== null; found = scalarMember.exec(text)) members.push(`${found[1]}:${found[2]}`);
  return JSON.parse(`{${members.join(",")}}`) as Stored; // Written by record.ts from these types.
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

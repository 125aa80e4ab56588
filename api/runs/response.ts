import type { DbChange } from "../../domain/invocation/db-change.ts";
import { withParsedBody } from "../../domain/invocation/http-body.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import type { DbWrite, DryRunOutcome, JudgedEmit } from "../../domain/invocation/dry-run.ts";
import type { RunSummary } from "../../domain/invocation/invocation.ts";
import type { Answered } from "../http/response/answered.ts";
import type { dryRunSchema, runSchema } from "./schemas.ts";

/** A run; `result` is what it returned, as JSON. Times in epoch ms, since a second holds many runs. */
export function runResponse(run: ShownRun): Answered<typeof runSchema> {
  const { cause, queuedMs, startMs, duplicates, dbChanges, received } = run;
  return {
    id: run.id,
    source_id: run.source,
    status: run.error === null ? "succeeded" : "failed",
    trigger: run.trigger,
    ...(run.hook === undefined ? {} : { hook: run.hook }),
    started_at: Math.floor(run.startedAt / 1000),
    started_at_ms: run.startedAt,
    duration_ms: run.durationMs,
    cpu_ms: run.cpuMs,
    event_ids: run.eventIds,
    ...(run.logs === undefined ? {} : { logs: run.logs }),
    error: run.error,
    result: run.result === null ? null : parseJsonOrNull(run.result),
    ...(received === undefined ? {} : { event: withParsedBody(parseJsonOrNull(received)) }),
    ...(cause === undefined ? {} : { cause: { emitter_id: cause.emitter, emit_id: cause.emitId } }),
    ...(queuedMs === undefined ? {} : { queued_ms: queuedMs }),
    ...(startMs === undefined ? {} : { start_ms: startMs }),
    ...(duplicates === undefined ? {} : { duplicates }),
    ...(dbChanges === undefined ? {} : { db_changes: dbChanges.map(changeResponse) }),
  };
}

/** Earlier versions stored values, too. */
const changeResponse = ({ prop, key, change, bytes }: DbChange) => ({ prop, key, change, ...(bytes === undefined ? {} : { bytes }) });

/** Only a single run has logs and, if it failed, the event that it received. */
type ShownRun = Omit<RunSummary, "logs"> & { readonly logs?: RunSummary["logs"]; readonly received?: string };

/** What a dry run would have stored; of its emits, only those with the verdict `emitted`. */
export function dryRunResponse(
  { run, source }: { readonly run: string; readonly source: string },
  outcome: DryRunOutcome,
): Answered<typeof dryRunSchema> {
  return {
    id: run,
    source_id: source,
    dry_run: true,
    status: outcome.error === null ? "succeeded" : "failed",
    trigger: "manual",
    started_at: Math.floor(outcome.startedAt / 1000),
    started_at_ms: outcome.startedAt,
    duration_ms: outcome.durationMs,
    cpu_ms: outcome.cpuMs,
    emits: outcome.emits.map(emitResponse),
    db_writes: outcome.writes.map(writeResponse),
    response: outcome.response,
    logs: outcome.logs,
    error: outcome.error,
    result: outcome.result === null ? null : (JSON.parse(outcome.result) as unknown),
  };
}

function emitResponse({ verdict, id, channel, summary, ts, deliverAt, payload }: JudgedEmit) {
  const delivery = deliverAt === undefined ? {} : { delivery_ts: deliverAt };
  return { verdict, id, name: channel, summary, ts, ...delivery, event: JSON.parse(payload) as unknown };
}

/** JSON's null is a value, so deletions have their own field. */
function writeResponse({ prop, key, value }: DbWrite): Answered<typeof dryRunSchema>["db_writes"][number] {
  return value === null ? { prop, key, deleted: true } : { prop, key, value: JSON.parse(value) as unknown };
}

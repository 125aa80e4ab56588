import type { RunSummary } from "../../domain/invocation.ts";

/** A run; `result` is what it returned, as JSON. Times in epoch ms, since a second holds many runs. */
export function runResponse(run: Omit<RunSummary, "logs"> & Partial<Pick<RunSummary, "logs">>): object {
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
    result: run.result === null ? null : (JSON.parse(run.result) as unknown),
  };
}

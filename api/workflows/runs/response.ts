import { parseJsonOrNull } from "../../../domain/json.ts";
import { withParsedBody } from "../../../domain/invocation/http-body.ts";
import type { RecordedAttempt, RecordedWorkflowRun, WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { StoredAttempt } from "../../webhooks/ports.ts";
import { attemptResult } from "../../webhooks/response.ts";
import type { Answered } from "../../http/response/answered.ts";
import type { workflowRunDetailsSchema, workflowRunSchema } from "./schemas.ts";

export function workflowRunResponse(run: RecordedWorkflowRun): Answered<typeof workflowRunSchema> {
  const { startedAt, endedAt, resumeAt, cause } = run;
  return {
    id: run.id,
    workflow_id: run.workflow,
    deployment_id: run.deployment,
    status: run.status,
    trigger: run.trigger,
    cause: cause === null ? null : { emitter_id: cause.emitter, emit_id: cause.emitId },
    started_at: secondsOf(startedAt),
    started_at_ms: startedAt,
    ended_at: endedAt === null ? null : secondsOf(endedAt),
    ended_at_ms: endedAt,
    duration_ms: endedAt === null ? null : endedAt - startedAt,
    compute_ms: run.computeMs,
    resume_at: resumeAt === null ? null : secondsOf(resumeAt),
    resume_at_ms: resumeAt,
    step_count: run.stepCount,
    steps_done: run.stepsDone,
    repeats: run.repeats,
    reason: run.reason,
    failed_step_id: run.failedStep,
    error: run.error,
  };
}

/** @param sends attempts of its sends, newest first */
export function workflowRunDetailsResponse(
  run: WorkflowRunDetails,
  sends: readonly StoredAttempt[],
): Answered<typeof workflowRunDetailsSchema> {
  const shown = workflowRunResponse(run);
  const event = run.event === null ? null : withParsedBody(parseJsonOrNull(run.event));
  const cause = shown.cause === null ? null : { ...shown.cause, event_id: run.causeEventId };
  return { ...shown, cause, event, steps: run.attempts.map(attemptResponse), sends: sends.map(sendResponse), event_ids: run.eventIds };
}

function attemptResponse(attempt: RecordedAttempt): Answered<typeof workflowRunDetailsSchema>["steps"][number] {
  const { $return_value = null, $summary = null, ...exports } = objectOf(parseJsonOrNull(attempt.exports));
  return {
    id: attempt.id,
    name: attempt.name,
    attempt: attempt.attempt,
    outcome: attempt.outcome,
    started_at_ms: attempt.startedAt,
    duration_ms: attempt.durationMs,
    cpu_ms: attempt.cpuMs,
    inputs: attempt.inputs === null ? null : parseJsonOrNull(attempt.inputs),
    exports,
    return_value: $return_value,
    summary: $summary,
    error: attempt.error,
    logs: attempt.logs,
  };
}

const sendResponse = (stored: StoredAttempt) => ({
  delivery_id: stored.delivery,
  send: stored.channel.replace("$send.", ""),
  attempt: stored.attempt,
  outcome: stored.outcome,
  ...attemptResult(stored),
});

const secondsOf = (ms: number): number => Math.floor(ms / 1000);

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}; // Checked.

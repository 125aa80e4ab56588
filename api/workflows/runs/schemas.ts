import { z } from "zod";
import { triggers } from "../../../domain/trigger.ts";
import { stepOutcomes } from "../../../domain/workflow/run-commit.ts";
import { runStatuses } from "../../../domain/workflow/run-state.ts";
import { thrownSchema } from "../../http/response/errors.ts";
import { attemptOutcomes } from "../../webhooks/ports.ts";
import { attemptResult } from "../../webhooks/schemas.ts";
import { logLine } from "../../runs/schemas.ts";

const ms = z.number().describe("Epoch milliseconds.");
const seconds = z.int().describe("Epoch seconds.");

/** Named by its emitter and the id that deliveries of the event have. */
const cause = z.object({
  emitter_id: z.string().describe("The source or workflow that emitted it."),
  emit_id: z.string(),
  event_id: z
    .string()
    .nullable()
    .optional()
    .describe("Its id among the events of the emitter; null if it is no longer stored. Only in the response for a single run."),
});

export const workflowRunSchema = z
  .object({
    id: z.string().describe("`r_…`."),
    workflow_id: z.string(),
    deployment_id: z.string().describe("The version with which the run began, and finishes: `d_…`."),
    status: z.enum(runStatuses),
    trigger: z.enum(triggers),
    cause: cause.nullable().describe("The emitted event that started the run; null for other triggers."),
    started_at: seconds,
    started_at_ms: ms,
    ended_at: seconds.nullable().describe("Null: the run has not ended."),
    ended_at_ms: ms.nullable(),
    duration_ms: z.number().nullable().describe("From its start to its end, with the time that it was suspended."),
    compute_ms: z.number().describe("Time of its steps."),
    resume_at: seconds.nullable().describe("While suspended: when the run continues, or is canceled if nothing has resumed it."),
    resume_at_ms: ms.nullable(),
    step_count: z.int(),
    steps_done: z.int().describe("Number of steps that will not run again."),
    repeats: z.string().nullable().describe("The run that it repeats: `r_…`."),
    reason: z.string().nullable().describe("Why the run exited, was canceled, or is paused."),
    failed_step_id: z.string().nullable().describe("The step that failed the run: `c_…`."),
    error: thrownSchema.nullable(),
  })
  .meta({ id: "WorkflowRun" });

const attemptSchema = z
  .object({
    id: z.string().describe("Id of the step: `c_…`."),
    name: z.string(),
    attempt: z.int().describe("From 1. Retries and reruns count, and attempts that a crash has interrupted."),
    outcome: z
      .enum(stepOutcomes)
      .describe(
        "`retried`: it failed, and runs again later. `continued`: it failed, and the run continued. `rerun`: it asked to run again.",
      ),
    started_at_ms: ms,
    duration_ms: z.number(),
    cpu_ms: z.number(),
    inputs: z.unknown().describe("Its props, with expressions evaluated; null if they have more than 64 KiB."),
    exports: z.unknown().describe("By name. Of more than 64 KiB, only the beginning is stored, as `$truncated`."),
    return_value: z.unknown(),
    summary: z.unknown().describe("The export `$summary`, or null."),
    error: thrownSchema.nullable(),
    logs: z.array(logLine),
  })
  .meta({ id: "StepAttempt", description: "An attempt of a step of a workflow run." });

const sendSchema = z
  .object({
    delivery_id: z.string(),
    send: z.string().describe("`http`, `email` or `s3`."),
    attempt: z.int().describe("The first is 1."),
    outcome: z.enum(attemptOutcomes),
    ...attemptResult,
  })
  .meta({ id: "SendAttempt", description: "An attempt to carry out what `$.send` asked for." });

export const workflowRunDetailsSchema = workflowRunSchema
  .extend({
    event: z.unknown().describe("The event that started the run; null if it has more than 64 KiB."),
    steps: z.array(attemptSchema).describe("Attempts of its steps, in the order in which they ended."),
    sends: z.array(sendSchema).describe("Attempts to carry out what `$.send` asked for, newest first; of many, the last 100."),
    event_ids: z.array(z.string()).describe("Events that the run emitted and that are still stored."),
  })
  .meta({ id: "WorkflowRunDetails" });

import { z } from "zod";
import { stepOutcomes } from "../../domain/workflow/run-commit.ts";
import { sendKinds } from "../../domain/workflow/run-state.ts";
import { flowKinds, testStatuses, type TestedStep, type WorkflowTestOutcome } from "../../domain/workflow/test-run.ts";
import type { Answered } from "../http/response/answered.ts";
import { thrownSchema } from "../http/response/errors.ts";
import { logLine } from "../runs/schemas.ts";

const ms = z.number().describe("Epoch milliseconds.");

const testedStepSchema = z
  .object({
    id: z.string().describe("`c_…`."),
    name: z.string(),
    outcome: z.enum(stepOutcomes),
    started_at_ms: ms,
    duration_ms: z.number(),
    cpu_ms: z.number(),
    inputs: z.unknown().describe("Values of the props that contain expressions; null: there are none, or they have more than 64 KiB."),
    exports: z.record(z.string(), z.unknown()).describe("What the step exported, by name."),
    $return_value: z.unknown().optional().describe("What it returned."),
    $summary: z.unknown().optional().describe("Its summary."),
    flow: z
      .object({ kind: z.enum(flowKinds), ms: z.number().nullable().optional(), reason: z.string().nullable().optional() })
      .nullable()
      .describe("Its call of `$.flow`, which a test does not wait for."),
    sends: z.array(z.object({ kind: z.enum(sendKinds), argument: z.unknown(), at_ms: ms })).describe("What `$.send` would have sent."),
    logs: z.array(logLine),
    error: thrownSchema.nullable(),
  })
  .meta({ id: "TestedStep" });

export const workflowTestSchema = z
  .object({
    id: z.string().describe("`r_…`."),
    workflow_id: z.string(),
    test: z.literal(true),
    status: z.enum(testStatuses).describe("`exited`: a step called `$.flow.exit`."),
    started_at_ms: ms,
    duration_ms: z.number(),
    cpu_ms: z.number(),
    steps: z.array(testedStepSchema).describe("The executed steps, in order."),
    response: z
      .object({
        status: z.int(),
        headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
        body: z.string(),
        base64: z.boolean().optional(),
      })
      .nullable()
      .describe("Argument of `$.respond`."),
    error: thrownSchema.nullable().describe("The error of the step that failed, or why no step could be executed."),
  })
  .meta({ id: "WorkflowTest", description: "What a run would have done. It stored and sent nothing." });

export function workflowTestResponse(
  { run, workflow }: { readonly run: string; readonly workflow: string },
  outcome: WorkflowTestOutcome,
): Answered<typeof workflowTestSchema> {
  return {
    id: run,
    workflow_id: workflow,
    test: true,
    status: outcome.status,
    started_at_ms: outcome.startedAt,
    duration_ms: outcome.durationMs,
    cpu_ms: outcome.cpuMs,
    steps: outcome.steps.map(stepResponse),
    response: outcome.response,
    error: outcome.error ?? (outcome.status === "failed" ? (outcome.steps.at(-1)?.error ?? null) : null),
  };
}

function stepResponse(step: TestedStep): Answered<typeof testedStepSchema> {
  const { $return_value, $summary, ...exports } = JSON.parse(step.exports) as Readonly<Record<string, unknown>>; // Checked by the parser.
  return {
    id: step.id,
    name: step.name,
    outcome: step.outcome,
    started_at_ms: step.startedAt,
    duration_ms: step.durationMs,
    cpu_ms: step.cpuMs,
    inputs: step.inputs === null ? null : (JSON.parse(step.inputs) as unknown),
    exports,
    ...($return_value === undefined ? {} : { $return_value }),
    ...($summary === undefined ? {} : { $summary }),
    flow: step.flow,
    sends: step.sends.map(({ kind, argument, at }) => ({ kind, argument: JSON.parse(argument) as unknown, at_ms: at })),
    logs: step.logs,
    error: step.error,
  };
}

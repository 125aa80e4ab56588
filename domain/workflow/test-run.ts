import { z } from "zod";
import { isJson } from "../json.ts";
import { httpResponseSchema, logRecordSchema, runErrorSchema, type HttpResponse, type LogRecord, type RunError } from "../run-products.ts";
import type { StepDeployment } from "./deployment.ts";
import { stepOutcomes } from "./run-commit.ts";
import { sendKinds, type SendRequest } from "./run-state.ts";

/**
 * A test of a workflow: a dry run that executes its steps, or the steps of a draft. It stores and sends nothing, and `$.context.test` is
 * true. It does not wait: after `$.flow.delay` and `$.flow.suspend` the next step runs at once, and no step is run again.
 */
export interface WorkflowTest {
  /** Name of the last step to execute; absent: all. */
  readonly untilStep?: string;
  /** The steps of a draft, sealed for the pool. Absent: those of the deployment. */
  readonly steps?: readonly StepDeployment[];
}

export const testStatuses = ["succeeded", "exited", "failed"] as const;

export interface WorkflowTestOutcome {
  /** `exited`: a step called `$.flow.exit`. `failed`: a step failed, and its failure does not continue. */
  readonly status: (typeof testStatuses)[number];
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  /** The executed steps, in order. */
  readonly steps: readonly TestedStep[];
  /** What `$.respond` gave last. */
  readonly response: HttpResponse | null;
  /** Why no step could be executed, or why the result is incomplete; errors of steps are in `steps`. */
  readonly error: RunError | null;
}

export interface TestedStep {
  /** `c_…` */
  readonly id: string;
  readonly name: string;
  readonly outcome: (typeof stepOutcomes)[number];
  readonly startedAt: number;
  readonly durationMs: number;
  readonly cpuMs: number;
  /** JSON text: the values of the props that contain expressions. Null: there are none, or they have more than 64 KiB. */
  readonly inputs: string | null;
  /** JSON text of an object: exports by name, with `$return_value` and `$summary`. */
  readonly exports: string;
  /** The last call of `$.flow`; null: none. */
  readonly flow: TestedFlow | null;
  /** What the step would have sent. */
  readonly sends: readonly SendRequest[];
  readonly logs: readonly LogRecord[];
  readonly error: RunError | null;
}

export const flowKinds = ["exit", "delay", "suspend", "rerun"] as const;

export interface TestedFlow {
  readonly kind: (typeof flowKinds)[number];
  /** Of `delay`, `suspend` and `rerun`; null: the call gave none. */
  readonly ms?: number | null;
  /** Of `exit`. */
  readonly reason?: string | null;
}

const json = z.string().refine(isJson);
const jsonObject = json.refine((text) => /^\s*\{/.test(text));
const send = z.object({ kind: z.enum(sendKinds), argument: json, step: z.string(), at: z.number() });
const flow = z.object({
  kind: z.enum(flowKinds),
  ms: z.number().nullable().exactOptional(),
  reason: z.string().nullable().exactOptional(),
});
const step = z.object({
  id: z.string(),
  name: z.string(),
  outcome: z.enum(stepOutcomes),
  startedAt: z.number(),
  durationMs: z.number(),
  cpuMs: z.number(),
  inputs: json.nullable(),
  exports: jsonObject,
  flow: flow.nullable(),
  sends: z.array(send),
  logs: z.array(logRecordSchema),
  error: runErrorSchema.nullable(),
});
const outcome = z.object({
  status: z.enum(testStatuses),
  startedAt: z.number(),
  durationMs: z.number(),
  cpuMs: z.number(),
  steps: z.array(step),
  response: httpResponseSchema.nullable(),
  error: runErrorSchema.nullable(),
});

/** Parses a runner's reply, which is untrusted because the process runs user code. Undefined if it is invalid. */
export function parseWorkflowTestOutcome(value: unknown): WorkflowTestOutcome | undefined {
  return outcome.safeParse(value).data;
}

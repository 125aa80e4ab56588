import { z } from "zod";
import { maxTimestampMs } from "../clock.ts";
import { maxReturnedBytes } from "../workflow/call.ts";
import { maxStepsTogether, stepOutcomes, type WorkflowProgress } from "../workflow/run-commit.ts";
import { hasEnded, maxSuspensionNumber, runStatuses, sendKinds } from "../workflow/run-state.ts";
import { stepNamePattern } from "../workflow/step-id.ts";

const time = z.number().min(-maxTimestampMs).max(maxTimestampMs);
const durationMs = z.number().max(1e12);
/** Used in subjects and message ids. */
const token = z.string().regex(/^[\w-]{1,200}$/);
const stepName = z.string().regex(stepNamePattern);
const maxSteps = 1_000;

const named = { id: z.string().regex(/^c_[0-9a-z]{1,57}$/), name: stepName };
const step = z.looseObject({
  ...named,
  index: z.int().min(0).max(maxSteps),
  attempt: z.int().min(1).max(1e9),
  startedAt: time,
  durationMs,
  cpuMs: durationMs,
  outcome: z.enum(stepOutcomes),
  inputs: z.string().nullable(),
  exports: z.string(),
  error: z.looseObject({ name: z.string(), message: z.string() }).nullable(),
});

const sendId = z.string().regex(/^[\w-]{1,200}\.s\d{1,6}$/);
const send = z.looseObject({ id: sendId, kind: z.enum(sendKinds), argument: z.string(), step: stepName, at: time });

const workflowId = z.string().regex(/^p_[0-9a-z]{1,57}$/);
const runId = z.string().regex(/^r_\w{1,100}$/);
const suspension = z.int().min(1).max(maxSuspensionNumber);
const call = z.looseObject({ id: token, workflow: workflowId, event: z.string(), suspension: suspension.optional() });
const canceled = z.looseObject({ workflow: workflowId, run: runId });
const returns = z.looseObject({
  to: z.looseObject({ workflow: workflowId, run: runId, suspension }),
  returned: z.looseObject({
    run: runId,
    status: z.enum(runStatuses).refine(hasEnded),
    value: z.string().max(maxReturnedBytes),
    error: z.looseObject({ name: z.string(), message: z.string() }).optional(),
  }),
});

/**
 * True if all that leaves a run is named after it: what is forged must not pass for that of another run, which would then be left out, or end
 * the wait of a run that has called another one.
 */
export const isOwn = (run: string, { sends = [], call: own, returns: returning }: OfRun): boolean =>
  sends.every(({ id }) => id.startsWith(`${run}.`)) &&
  (own === undefined || own.id.startsWith(`${run}-`)) &&
  (returning === undefined || returning.returned.run === run);

type OfRun = Pick<WorkflowProgress, "sends" | "call" | "returns">;

/**
 * The `workflow` part of a commit, see domain/workflow/run-commit.ts. JSON texts are not parsed here, because most readers only pass them
 * on: code that shows one must expect an invalid text. Texts are bounded by the size of a message; the history keeps
 * the beginning of long ones.
 */
export const workflowProgress = z
  .looseObject({
    status: z.enum(runStatuses),
    number: z.int().min(1).max(1e9),
    startedAt: time,
    stepCount: z.int().min(0).max(maxSteps),
    step: step.optional(),
    before: z
      .array(z.looseObject({ step, logs: z.int().min(0).max(1e6) }))
      .max(maxStepsTogether - 1)
      .optional(),
    failedStep: z.looseObject(named).optional(),
    resumeAt: time.optional(),
    reason: z.string().optional(),
    event: z.string().optional(),
    cause: z.looseObject({ emitter: token, emitId: token }).optional(),
    queuedMs: durationMs.min(0).optional(),
    sends: z.array(send).max(10_000).optional(),
    call: call.optional(),
    returns: returns.optional(),
    // A version before this one wrote one alone.
    cancels: z.union([z.array(canceled).max(10_000), canceled]).optional(),
  })
  .refine(({ number, step: last, before = [] }) => before.length === 0 || (last !== undefined && before.length < number))
  // What is sent would be sent again by a later commit of the run.
  .refine(({ status, sends }) => hasEnded(status) || sends === undefined || sends.length === 0)
  .refine(({ status, returns: ending, cancels }) => hasEnded(status) || (ending === undefined && cancels === undefined));

import type { CommittedRun, WorkflowCommit } from "../../domain/run/commit.ts";
import type { CommittedEvent } from "../../domain/event/committed-event.ts";
import { eventIdOfRun } from "../../domain/event/event-id.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import { dueAtOf } from "../../domain/schedule/ticks.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { traceContext } from "../../domain/traces.ts";
import { maxReturnedBytes, type EndStatus, type Returned } from "../../domain/workflow/call.ts";
import type { StepFailure } from "../../domain/workflow/control.ts";
import type { StepDeployment, WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { shownExports, type CommittedStep, type WorkflowProgress } from "../../domain/workflow/run-commit.ts";
import { hasEnded, type EmitArgument, type SendRequest, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { queuedOf } from "../commit/compose.ts";
import { maskSecrets } from "../commit/mask-secrets.ts";
import type { Execution } from "../sandbox/port.ts";
import { suspensionsOf } from "./branches.ts";
import { withoutData, type StepEnd } from "./next-state.ts";
import { lastValue } from "./position.ts";

/** Maximum characters of the trigger's event that a run's first commit has for people: the state has it as well. A longer one is left out. */
const maxKeptEvent = 64 * 1024;

export interface RunOfWorkflow {
  readonly workflow: WorkflowDeployment;
  /** Id of the run. */
  readonly run: string;
  readonly invocation: Invocation;
  /** Commits of the run so far. */
  readonly commits: number;
  /** Its commit has no room for the event of a run that fails. */
  readonly withoutEvent?: true;
  /** Parent span of the deliveries. */
  readonly traceparent?: string | undefined;
}

/** An attempt of a step that has ended. */
export interface EndedStep {
  readonly step: StepDeployment;
  readonly index: number;
  readonly attempt: number;
  readonly startedAt: number;
  readonly execution: Execution;
  readonly end: StepEnd;
  /** Layers of the run's files before it ended. */
  readonly layers: readonly string[];
  /** The runs for which other branches have waited, if it ends the run. */
  readonly cancels?: WorkflowProgress["cancels"];
  readonly secrets: Readonly<Record<string, unknown>>;
}

/** The commit of an attempt of a step. @param now epoch ms */
export function composeStepCommit(run: RunOfWorkflow, ended: EndedStep, now: number, randomId: () => string): WorkflowCommit {
  const { step, index, attempt, startedAt, execution, end, secrets, cancels, layers } = ended;
  const { state, outcome, error, failure, exports, inputs, reason, call } = end;
  const products = execution.outcome === "crashed" ? undefined : execution;
  const [durationMs, cpuMs] = [products?.durationMs ?? 0, products?.cpuMs ?? 0];
  const isFailed = state.status === "failed";
  const logs = [...(products?.logs ?? []), ...(error === null ? [] : [{ k: "error", ts: now, err: error }])];
  const { id, trigger } = { id: run.run, trigger: state.trigger.kind };
  const received = isFailed && run.withoutEvent !== true ? { received: state.trigger.event } : {};
  const described = { id, trigger, generation: run.workflow.generation, startedAt, durationMs, cpuMs, result: null, ...received };
  const masked = maskSecrets({ run: described, logs, error: failure?.error ?? null }, secrets);
  const mask = Object.keys(secrets).length === 0 ? undefined : new SecretMask(secrets);
  const committed: CommittedStep = {
    id: step.id,
    name: step.name,
    index,
    attempt,
    startedAt,
    durationMs,
    cpuMs,
    outcome,
    inputs: inputs === null ? null : (mask?.json(inputs) ?? inputs),
    exports: shownExports(mask?.json(exports) ?? exports),
    error: error === null ? null : (mask?.error(error) ?? error),
    ...filesOf(layers, state.files ?? []),
  };
  return composeCommit(
    run,
    state,
    {
      step: committed,
      ...failedStepOf(failure, step.id),
      ...(reason === undefined ? {} : { reason }),
      ...(call === undefined ? {} : { call }),
      ...(cancels === undefined ? {} : { cancels }),
    },
    masked,
    now,
    randomId,
  );
}

function filesOf(before: readonly string[], after: readonly string[]): Pick<CommittedStep, "files"> {
  if (after !== before && after.length > 0) return { files: { before, after } };
  return before.length === 0 ? {} : { files: { before } };
}

/** Why a run ends or waits without a step; neither: there are no more steps. */
export interface WithoutStep {
  /** Of a cancellation or a pause. */
  readonly reason: string | undefined;
  /** That of an earlier step, whose `finally` has run. Its error is masked already. */
  readonly failure: StepFailure | undefined;
  /** The runs for which one that ends has waited. */
  readonly cancels?: WorkflowProgress["cancels"] | undefined;
}

/** A commit without a step. */
export function composeWithoutStep(
  run: RunOfWorkflow,
  state: WorkflowRunState,
  { reason, failure, cancels }: WithoutStep,
  now: number,
  randomId: () => string,
): WorkflowCommit {
  const { kind } = state.trigger;
  const described = {
    id: run.run,
    trigger: kind,
    generation: run.workflow.generation,
    startedAt: now,
    durationMs: 0,
    cpuMs: 0,
    result: null,
    ...(failure === undefined || run.withoutEvent === true ? {} : { received: state.trigger.event }),
  };
  const said = {
    ...failedStepOf(failure),
    ...(reason === undefined ? {} : { reason }),
    ...(cancels === undefined ? {} : { cancels }),
  };
  return composeCommit(run, state, said, { run: described, logs: [], error: failure?.error ?? null }, now, randomId);
}

/** @param step id of the step that the commit has */
const failedStepOf = (failure: StepFailure | undefined, step?: string): Pick<WorkflowProgress, "failedStep"> =>
  failure === undefined || failure.step.id === step ? {} : { failedStep: failure.step };

function composeCommit(
  { workflow, run, invocation, commits, traceparent }: RunOfWorkflow,
  state: WorkflowRunState,
  said: Pick<WorkflowProgress, "step" | "failedStep" | "reason" | "call" | "cancels">,
  readable: Pick<WorkflowCommit, "run" | "logs" | "error">,
  now: number,
  randomId: () => string,
): WorkflowCommit {
  const { trigger, sends } = state;
  const suspensions = state.status === "suspended" ? suspensionsOf(state) : [];
  const isEnd = hasEnded(state.status);
  const isFirst = commits === 0;
  const cause = trigger.metadata === undefined ? {} : { cause: { emitter: trigger.metadata.emitter_id, emitId: trigger.metadata.emit_id } };
  return {
    source: workflow.workflow,
    owner: workflow.owner,
    deployment: workflow.id,
    ...readable,
    ...(isFirst && invocation.trigger === "timer" && invocation.backfill === undefined
      ? { run: { ...readable.run, ...ticksOf(invocation, state) } }
      : {}),
    events: isEnd ? eventsOf(run, sends, now, randomId) : [],
    ...(state.hops === undefined ? {} : { hops: state.hops }),
    ...(state.way === undefined ? {} : { way: state.way }),
    ...traceContext({ traceparent, tracestate: invocation.tracestate }),
    workflow: {
      status: state.status,
      number: commits + 1,
      startedAt: state.startedAt,
      stepCount: workflow.steps.length,
      ...said,
      ...(suspensions.length === 0 ? {} : { resumeAt: Math.min(...suspensions.map(({ until }) => until)) }),
      ...(isFirst && trigger.event.length <= maxKeptEvent ? { event: trigger.event } : {}),
      ...(isFirst ? { ...cause, ...queuedOf(state.startedAt, trigger.at) } : {}),
      ...(isFirst && invocation.repeats !== undefined ? { repeats: invocation.repeats.run } : {}),
      ...(readable.error === null ? {} : mailOf(workflow)),
      ...(hasEnded(state.status) && state.caller !== undefined
        ? { returns: { to: state.caller, returned: returnedBy(run, state.status, lastValue(state.steps, workflow.steps), readable.error) } }
        : {}),
      ...(isEnd ? { sends: sends.map((send, index) => ({ ...send, id: `${run}.s${index}` })).filter(({ kind }) => kind !== "emit") } : {}),
    },
    state: isEnd ? withoutData(state) : state,
  };
}

/** When the tick of a run was due, and the ticks before it that started none. */
function ticksOf(invocation: Invocation, { trigger }: WorkflowRunState): Pick<CommittedRun, "dueAt" | "skippedTicks" | "missedTicks"> {
  const skips = Object.groupBy(invocation.skips ?? [], ({ reason }) => reason);
  const [skipped, missed] = [skips.earlier_tick_unfinished, skips.missed];
  return {
    dueAt: dueAtOf(invocation, trigger.at),
    ...(skipped === undefined ? {} : { skippedTicks: skipped.map(({ dueAt }) => dueAt) }),
    ...(missed === undefined ? {} : { missedTicks: missed.map(({ dueAt }) => dueAt) }),
  };
}

/** What a run gives to the one that has called it. @param value JSON text: what its last step returned */
function returnedBy(run: string, status: EndStatus, value: string, error: RunError | null): Returned {
  if (error !== null) {
    const { name, message, code } = error;
    return { run, status, value: "null", error: { name, message, ...(code === undefined ? {} : { code }) } };
  }
  if (status === "failed" || status === "canceled") return { run, status, value: "null" };
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxReturnedBytes) return { run, status, value };
  const message = `its last step returned ${bytes} bytes of JSON: a called run may return ${maxReturnedBytes}; store them, and return where they are`;
  return { run, status: "failed", value: "null", error: { name: "LimitError", code: "returned_too_much", message } };
}

/** What the mail about an error needs: the delivery role does not read deployments. */
const mailOf = ({ name, settings }: WorkflowDeployment): Pick<WorkflowProgress, "name" | "errorMails"> => ({
  name,
  ...(settings.errorMails === false ? { errorMails: false } : {}),
});

function eventsOf(run: string, sends: readonly SendRequest[], now: number, randomId: () => string): CommittedEvent[] {
  return sends
    .filter(({ kind }) => kind === "emit")
    .map(({ argument, at }, index): CommittedEvent => {
      const { name, raw_event, summary, id, ts } = JSON.parse(argument) as EmitArgument; // Checked by the sandbox.
      return {
        id: eventIdOfRun(run, index, now),
        emitId: randomId(),
        channel: name ?? "",
        dedupeId: id ?? null,
        summary: summary ?? null,
        ts: ts ?? at,
        payload: JSON.stringify(raw_event ?? null),
      };
    });
}

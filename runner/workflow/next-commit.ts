import type { WorkflowCommit } from "../../domain/run/commit.ts";
import { hopLimitError, isOverHopLimit } from "../../domain/invocation/hops.ts";
import { Invariant } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-products.ts";
import { callId } from "../../domain/workflow/call.ts";
import { controlLimits, type StepFailure } from "../../domain/workflow/control.ts";
import type { StepDeployment, WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import type { WorkflowProgress } from "../../domain/workflow/run-commit.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { RunnerPorts } from "../ports.ts";
import { internalError, notExecuted } from "../run/execute.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { suspensionsOf, viewOfBranch } from "./branches.ts";
import { forCaller } from "./called-run.ts";
import { composeStepCommit, composeWithoutStep, type RunOfWorkflow } from "./compose-commit.ts";
import { pauseRun } from "./control-run.ts";
import { withMaskedError, type ExecutedStep } from "./execute-step.ts";
import { endInBranch, endStep, type StepEnd } from "./next-state.ts";
import { withoutFrames } from "./position.ts";
import { withFiles } from "./run-files.ts";

/** The error of a step whose commit is too large, in place of what it did. */
export interface Replacement {
  readonly error: RunError;
  /** Whether the run may continue with the next step, if the step says so. */
  readonly mayContinue: boolean;
}

export type Compose = (about: RunOfWorkflow, replacement?: Replacement) => WorkflowCommit;

type ComposePorts = Pick<RunnerPorts, "clock" | "randomId">;

/** Why a run ends without a step: canceled, exited by a branch, or failed behind a `finally`; none of them: there are no more steps. */
export interface WhyEnded {
  readonly canceled: string | undefined;
  readonly failure: StepFailure | undefined;
  readonly exit: string | null | undefined;
}

/** The runs for which a run that ends has waited. */
function cancelsOf(state: WorkflowRunState): Pick<WorkflowProgress, "cancels"> {
  const cancels = suspensionsOf(state).flatMap(({ called }) => called ?? []);
  return cancels.length === 0 ? {} : { cancels };
}

/** @param waiting the state with all that it waits for */
export function composeEnd(
  state: WorkflowRunState,
  waiting: WorkflowRunState,
  { canceled, failure, exit }: WhyEnded,
  { clock, randomId }: ComposePorts,
): Compose {
  const status = canceled !== undefined ? "canceled" : failure !== undefined ? "failed" : exit !== undefined ? "exited" : "succeeded";
  const ended: WorkflowRunState = { ...state, status, suspension: null };
  const why = { reason: canceled ?? exit ?? undefined, failure, ...cancelsOf(waiting) };
  return (about) => composeWithoutStep(about, ended, why, clock.now(), randomId);
}

/** A run of which parts are gone is not looked at any more: it ends as canceled, or fails. */
export function composeIncomplete(
  incomplete: WorkflowRunState,
  canceled: string | undefined,
  { steps }: WorkflowDeployment,
  ports: ComposePorts,
): Compose {
  const { isIncomplete: _, fork: __, frames: ___, ...state } = incomplete;
  const { id = "", name = "" } = steps[state.next] ?? steps.at(-1) ?? {};
  const failure = canceled === undefined ? { error: stateGone, step: { id, name } } : undefined;
  return composeEnd({ ...state, steps: {} }, incomplete, { canceled, failure, exit: undefined }, ports);
}

export function composePause(state: WorkflowRunState, reason: string, { clock, randomId }: ComposePorts): Compose {
  return (about) => composeWithoutStep(about, pauseRun(state, clock.now()), { reason, failure: undefined }, clock.now(), randomId);
}

/** A step of the run, or of one of its branches, that was attempted. */
export interface Attempted {
  /** Number of the branch; 0: the run. */
  readonly branch: number;
  readonly step: StepDeployment;
  readonly index: number;
  readonly attempt: number;
  /** It was not executed, and no attempt may follow. */
  readonly isRefused: boolean;
  readonly executed: ExecutedStep;
}

/**
 * @param state of the run @param started branches whose next step is executed @param answerTo NATS subject of the caller of the trigger
 */
export function composeStep(
  state: WorkflowRunState,
  { branch, step, index, attempt, isRefused, executed }: Attempted,
  started: readonly number[],
  answerTo: string | undefined,
  { clock, randomId }: ComposePorts,
): Compose {
  const ended = { step, index, attempt, startedAt: executed.startedAt, secrets: executed.secrets, layers: state.files ?? [] };
  return (about, replacement) => {
    const { workflow, run, commits } = about;
    // Later steps read the error of a step, and a run may fail with it behind a `finally`, which has other secrets.
    const execution = replacement === undefined ? withMaskedError(executed) : notExecuted(replacement.error);
    const policy = isRefused ? { ...step, retries: 0, continueOnError: false } : policyOf(step, replacement);
    const ofCall = callId(run, commits + 1);
    const endOf = (view: WorkflowRunState): StepEnd => endStep(execution, view, workflow, policy, clock.now(), Math.random(), ofCall);
    // No `catch`, no further item and no other branch may follow what cannot go on, or cannot be stored.
    const endsRun = isRefused || replacement?.mayContinue === false;
    const stepEnd = endsRun
      ? endOf(withoutFrames(viewOfBranch(state, branch) ?? state))
      : branch === 0
        ? endOf(state)
        : endInBranch(state, branch, workflow.steps, started, endOf);
    const end = withFiles(stepEnd, executed.files);
    const cancels = endsRun && branch !== 0 ? cancelsOf(state) : {};
    return composeStepCommit(about, { ...ended, ...cancels, execution, end: forCaller(answerTo, end) }, clock.now(), randomId);
  };
}

/**
 * One commit for steps of branches that have ended: each ends as it would alone, in their order, up to one that starts a run, or with which the
 * run ends or waits. @param started as in `composeStep`
 */
export function composeTogether(
  state: WorkflowRunState,
  attempts: readonly Attempted[],
  started: readonly number[],
  answerTo: string | undefined,
  ports: ComposePorts,
): Compose {
  return (about) => {
    const ended: WorkflowCommit[] = [];
    const going = new Set(started);
    let now = state;
    for (const attempted of attempts) {
      going.delete(attempted.branch);
      const compose = composeStep(now, attempted, [...going], answerTo, ports);
      const commit = compose({ ...about, commits: about.commits + ended.length });
      ended.push(commit);
      now = commit.state;
      if (commit.workflow.call !== undefined || now.status !== "running") break;
    }
    return asOne(ended);
  };
}

function asOne(commits: readonly WorkflowCommit[]): WorkflowCommit {
  const last = commits.at(-1);
  if (last === undefined) throw new Invariant("a commit ends a step");
  const before = commits.slice(0, -1).flatMap(({ workflow: { step }, logs }) => (step === undefined ? [] : [{ step, logs: logs.length }]));
  if (before.length === 0) return last;
  return { ...last, logs: commits.flatMap(({ logs }) => logs), workflow: { ...last.workflow, before } };
}

/** A commit that is too large would be the same again. */
function policyOf(step: StepDeployment, replacement: Replacement | undefined): StepDeployment {
  return replacement === undefined ? step : { ...step, retries: 0, continueOnError: step.continueOnError && replacement.mayContinue };
}

/** Why the next step must not be executed, if so. */
export function refusalOf(
  { failure, failures = 0 }: ReceivedInvocation,
  { workflow }: WorkflowDeployment,
  state: WorkflowRunState,
  commits: number,
): RunError | undefined {
  if (failure !== undefined) return internalError(failure, failures + 1);
  if (commits >= controlLimits.executions) return tooManySteps;
  return isOverHopLimit(state.hops ?? 0) ? hopLimitError(workflow, state.way) : undefined;
}

const stateGone: RunError = {
  name: "LimitError",
  code: "state_gone",
  message: "parts of what earlier steps of the run have exported are no longer stored: run it again with its event",
};

const tooManySteps: RunError = {
  name: "LimitError",
  code: "too_many_steps",
  message: `the run has executed ${controlLimits.executions} steps, the limit: start runs of another workflow by $.send.emit for the rest`,
};

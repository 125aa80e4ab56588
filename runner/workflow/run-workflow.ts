import type { WorkflowCommit } from "../../domain/run/commit.ts";
import { Unavailable } from "../../domain/errors.ts";
import { hopLimitError, isOverHopLimit } from "../../domain/invocation/hops.ts";
import type { RunError } from "../../domain/run-products.ts";
import { hasMoved } from "../../domain/source/deployment.ts";
import { callId } from "../../domain/workflow/call.ts";
import { controlLimits, type StepFailure } from "../../domain/workflow/control.ts";
import { versionName, type StepDeployment, type WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { historyOfRun, workflowRunId } from "../../domain/invocation/run-id.ts";
import { hasEnded, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { CommitHistory } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { DeploymentCache } from "../run/deployment-cache.ts";
import { internalError, notExecuted } from "../run/execute.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { RunTrace, traceWait } from "../run/run-trace.ts";
import { composeStepCommit, composeWithoutStep, type RunOfWorkflow } from "./compose-commit.ts";
import { controlledBy, pauseRun, type Begun } from "./control-run.ts";
import { executeStep, stepAt, withCurrentSecrets, withMaskedError, type ExecutedStep, type WorkflowContext } from "./execute-step.ts";
import { begin, parseLast, type LastOfRun } from "./begin-run.ts";
import { endLater, endWakeUp } from "./end-run.ts";
import { endStep } from "./next-state.ts";
import { executionOf, forCaller } from "./called-run.ts";
import { beginRepetition, versionForgotten } from "./repeated-run.ts";
import { leaveEndedParts, withoutFrames, type Continued } from "./position.ts";
import { resumeOutcome } from "./resumed-runs.ts";
import { reportCommit } from "./report.ts";

/** `finished`: the run has ended or is suspended, or there is nothing to do. `released`: the next reader of the partition continues it. */
export type WorkflowRunResult = "finished" | "released";

/** After this many refused commits in a row, two runners compete for the run, and the invocation is retried later. */
const maxRefusals = 5;

interface Run {
  readonly received: ReceivedInvocation;
  readonly id: string;
  readonly history: CommitHistory<LastOfRun>;
  /** The current version of the workflow. */
  readonly current: WorkflowDeployment;
  /** A crash may have interrupted an attempt of the step that runs next. */
  mayRepeat: boolean;
  /** The caller of a resume URL has its answer. */
  isAnswered: boolean;
  readonly parent: string | undefined;
}

export interface RunContext extends WorkflowContext {
  readonly deployments: DeploymentCache;
}

/**
 * Starts or continues a run of a workflow, and executes its steps until it ends or is suspended (decision 0090):
 *
 *     received ── no run to continue ──▶ finished
 *        │
 *        ▼
 *     next step ── execute ──▶ commit ── stored: another step follows ──▶ next step
 *        ▲                       │ │
 *        └──── load the state ◀──┘ └── ended, or suspended: the wake-up is scheduled ──▶ finished
 *              refused: another runner has committed
 *
 * @throws Unavailable when the invocation must be retried later
 */
export async function runWorkflow(
  received: ReceivedInvocation,
  current: WorkflowDeployment,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<WorkflowRunResult> {
  const run = await openRun(received, current, ports);
  try {
    return await continueRun(run, context, config, ports);
  } finally {
    context.resumed.delete(run.id);
  }
}

async function continueRun(run: Run, context: RunContext, config: RunnerConfig, ports: RunnerPorts): Promise<WorkflowRunResult> {
  const { received, current } = run;
  let refusals = 0;
  for (;;) {
    const begun = begin(received, run.history.last, current, ports.clock.now());
    answerResume(run, begun, context, ports);
    if (begun?.endsSuspension === true) endWakeUp(run, ports);
    if (begun === undefined) return "finished";
    const { status, suspension } = begun.state;
    if (hasEnded(status)) {
      endLater(run, begun.state, ports);
      return "finished";
    }
    if (status === "suspended" && suspension !== null && begun.canceled === undefined) {
      // The invocation is acked only then: a crash before it repeats this.
      await ports.wakeUps.schedule(current.workflow, run.id, suspension.number, suspension.until);
      return "finished";
    }
    if (received.isReleased?.() === true) return "released";
    const commit = await commitNext(run, controlledBy(received.control?.(), begun, ports.clock.now()), context, config, ports);
    if (commit === undefined) {
      if (++refusals >= maxRefusals) throw competing(run);
      await run.history.load();
      continue;
    }
    refusals = 0;
    run.mayRepeat = false;
    reportCommit(commit, waitingCaller(run, begun.state), ports);
  }
}

async function openRun(received: ReceivedInvocation, current: WorkflowDeployment, ports: RunnerPorts): Promise<Run> {
  const { invocation, position, isNew = false, failures = 0 } = received;
  const id = workflowRunId(invocation, position);
  const history = new CommitHistory<LastOfRun>(historyOfRun(current.workflow, id), current.owner, ports.commits, parseLast, isUnfinished);
  // The run of a new invocation has no commits. One that was delivered, moved or armed may repeat another invocation.
  const { delivery, movedFrom, resume, control, chain } = invocation;
  const mayRepeat = !isNew || failures > 0;
  if (mayRepeat || [delivery, movedFrom, resume, control, chain].some((origin) => origin !== undefined)) await history.load();
  else history.beginEmpty();
  return { received, id, history, current, mayRepeat, isAnswered: false, parent: traceWait(received, ports) };
}

/** The commit that ends a run is soon replaced by a marker that expires. */
const isUnfinished = ({ state }: LastOfRun): boolean => state !== null && !hasEnded(state.status);

/** Answers the caller of a resume or cancel URL as soon as it is known whether it has an effect. */
function answerResume(run: Run, begun: Begun | undefined, { resumed }: RunContext, ports: Pick<RunnerPorts, "answer">): void {
  const { resume } = run.received.invocation;
  if (begun?.endsSuspension === true && begun.state.suspensionEnd !== undefined) resumed.add(run.id, begun.state.suspensionEnd);
  if (resume?.answerTo === undefined || run.isAnswered) return;
  const outcome = resumeOutcome(resume, begun, run.history.last);
  if (outcome === undefined) return;
  run.isAnswered = true;
  ports.answer(resume.answerTo, { kind: "resume", outcome });
}

/** Executes the next step, if there is one, and commits. @returns undefined if the commit was refused */
async function commitNext(
  run: Run,
  begun: Begun,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<WorkflowCommit | undefined> {
  const { received, id, history } = run;
  const { canceled, paused } = begun;
  const version = await versionOf(run, begun.state, context);
  const workflow = version ?? run.current;
  // A suspended step is behind: it may have been the last one of a loop.
  const { state, failure } = version === undefined ? versionForgotten(begun.state, run.current) : placeIn(version, run, begun.state);
  const trace = ports.traces === undefined ? undefined : new RunTrace(ports.traces, received.invocation, run.parent);
  const about: RunOfWorkflow = {
    workflow,
    run: id,
    invocation: received.invocation,
    commits: history.last === undefined || history.last.state === null ? 0 : history.last.workflow.number,
  };
  let commit: WorkflowCommit | undefined;
  try {
    const isEnd = canceled !== undefined || failure !== undefined || state.next >= workflow.steps.length;
    const compose = isEnd
      ? composeEnd(state, { canceled, failure }, ports)
      : paused === undefined
        ? await composeStep(run, about, state, context, config, ports)
        : composePause(state, paused, ports);
    const traceparent = trace?.startCommit() ?? run.parent;
    const composeTraced = (replacement?: Replacement): WorkflowCommit => compose({ ...about, traceparent }, replacement);
    // Also the error of a step that continues may not fit, beside the exports of earlier steps. The end of a run has no exports.
    const stored = await history.append(
      composeTraced(),
      (error) => composeTraced({ error, mayContinue: true }),
      (error) => composeTraced({ error, mayContinue: false }),
      (error) => compose({ ...about, traceparent, withoutEvent: true }, { error, mayContinue: false }),
    );
    commit = stored === undefined || stored.state === null ? undefined : stored;
    return commit;
  } finally {
    trace?.end(commit);
  }
}

/** The error of a step whose commit is too large, in place of what it did. */
interface Replacement {
  readonly error: RunError;
  /** Whether the run may continue with the next step, if the step says so. */
  readonly mayContinue: boolean;
}

type Compose = (about: RunOfWorkflow, replacement?: Replacement) => WorkflowCommit;

/** Why a run ends without a step: canceled, or failed behind a `finally`; neither: there are no more steps. */
interface WhyEnded {
  readonly canceled: string | undefined;
  readonly failure: StepFailure | undefined;
}

function composeEnd(state: WorkflowRunState, { canceled, failure }: WhyEnded, { clock, randomId }: RunnerPorts): Compose {
  const status = canceled !== undefined ? "canceled" : failure !== undefined ? "failed" : "succeeded";
  const ended: WorkflowRunState = { ...state, status, suspension: null };
  const cancels = canceled === undefined ? undefined : state.suspension?.called;
  return (about) => composeWithoutStep(about, ended, { reason: canceled, failure, cancels }, clock.now(), randomId);
}

function composePause(state: WorkflowRunState, reason: string, { clock, randomId }: RunnerPorts): Compose {
  return (about) => composeWithoutStep(about, pauseRun(state, clock.now()), { reason, failure: undefined }, clock.now(), randomId);
}

async function composeStep(
  run: Run,
  about: RunOfWorkflow,
  state: WorkflowRunState,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<Compose> {
  const { workflow } = about;
  const step = withCurrentSecrets(stepAt(workflow, state.next), run.current);
  const attempt = state.failures + state.reruns + 1 + (run.mayRepeat ? 1 : 0);
  const answerTo = waitingCaller(run, state);
  const refused = refusalOf(run, state, about.commits);
  const executed: ExecutedStep =
    refused !== undefined
      ? { execution: notExecuted(refused), startedAt: ports.clock.now(), secrets: {} }
      : state.returned !== undefined
        ? { execution: executionOf(state.returned), startedAt: ports.clock.now(), secrets: {} }
        : await executeStep(
            {
              workflow,
              step,
              run: run.id,
              state,
              attempt,
              queue: run.history.source,
              onResponse: answerTo === undefined ? undefined : (response) => ports.answer(answerTo, { kind: "response", response }),
            },
            context,
            config,
            ports,
          );
  const ended = { step, index: state.next, attempt, startedAt: executed.startedAt, secrets: executed.secrets };
  return (described, replacement) => {
    // Later steps read the error of a step, and a run may fail with it behind a `finally`, which has other secrets.
    const execution = replacement === undefined ? withMaskedError(executed) : notExecuted(replacement.error);
    const policy = refused === undefined ? policyOf(step, replacement) : { ...step, retries: 0, continueOnError: false };
    // No `catch` and no further item may follow what cannot go on, or cannot be stored.
    const placed = refused === undefined && replacement?.mayContinue !== false ? state : withoutFrames(state);
    const ofCall = callId(run.id, about.commits + 1);
    const end = forCaller(answerTo, endStep(execution, placed, workflow, policy, ports.clock.now(), Math.random(), ofCall));
    return composeStepCommit(described, { ...ended, execution, end }, ports.clock.now(), ports.randomId);
  };
}

/** NATS subject of the caller of the trigger, if one may still wait for an answer. */
const waitingCaller = ({ received }: Run, { answerTo }: WorkflowRunState): string | undefined => received.invocation.answerTo ?? answerTo;

/** A commit that is too large would be the same again. */
function policyOf(step: StepDeployment, replacement: Replacement | undefined): StepDeployment {
  return replacement === undefined ? step : { ...step, retries: 0, continueOnError: step.continueOnError && replacement.mayContinue };
}

/** Why the next step must not be executed, if so. */
function refusalOf({ received, current }: Run, state: WorkflowRunState, commits: number): RunError | undefined {
  const { failure, failures = 0 } = received;
  if (failure !== undefined) return internalError(failure, failures + 1);
  if (commits >= controlLimits.executions) return tooManySteps;
  return isOverHopLimit(state.hops ?? 0) ? hopLimitError(current.workflow, state.way) : undefined;
}

const tooManySteps: RunError = {
  name: "LimitError",
  code: "too_many_steps",
  message: `the run has executed ${controlLimits.executions} steps, the limit: start runs of another workflow by $.send.emit for the rest`,
};

/** The version with which the run began. Undefined: the run was to repeat another one on a version that is forgotten. @throws Unavailable */
async function versionOf(
  { current, received, history }: Run,
  { deployment }: WorkflowRunState,
  { deployments }: RunContext,
): Promise<WorkflowDeployment | undefined> {
  if (deployment === current.id) return current;
  const name = versionName(current.workflow, deployment);
  const version = await deployments.workflow(name);
  if (version !== undefined && !hasMoved(version)) return version;
  if (received.invocation.repeats?.deployment === deployment && history.last === undefined) return undefined;
  throw new Unavailable(`version ${name} of a workflow is not stored: its run cannot continue`);
}

/** Where the run goes on: a new one that repeats another one not always with the first step. */
function placeIn({ steps }: WorkflowDeployment, { received, history }: Run, state: WorkflowRunState): Continued {
  const { repeats } = received.invocation;
  return repeats === undefined || history.last !== undefined ? leaveEndedParts(state, steps) : beginRepetition(state, repeats, steps);
}

const competing = ({ current, id }: Run): Unavailable =>
  new Unavailable(
    `run ${id} of workflow ${current.workflow}: ${maxRefusals} commits in a row were refused because another runner commits for it`,
  );

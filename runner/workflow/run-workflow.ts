import type { WorkflowCommit } from "../../domain/run/commit.ts";
import { Invariant, Unavailable } from "../../domain/errors.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { hasEnded } from "../../domain/workflow/run-state.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { RunTrace } from "../run/run-trace.ts";
import { attemptStep } from "./attempt-step.ts";
import { begin } from "./begin-run.ts";
import { branchOf, hasAll, isOver, suspensionsOf, viewOfBranch, type Settled } from "./branches.ts";
import type { RunOfWorkflow } from "./compose-commit.ts";
import { controlledBy, type Begun } from "./control-run.ts";
import { endedEarly, endLater, endWakeUp } from "./end-run.ts";
import { withFormerFiles } from "./former-files.ts";
import { composeEnd, composeIncomplete, composePause, composeStep, type Compose, type Replacement } from "./next-commit.ts";
import { forget, openRun, placeIn, versionOf, waitingCaller, type Run, type RunContext } from "./open-run.ts";
import { hasReachedEnd } from "./position.ts";
import { versionForgotten } from "./repeated-run.ts";
import { reportCommit } from "./report.ts";
import { resumeOutcome } from "./resumed-runs.ts";
import { composeBranchStep, resumeDue } from "./run-branches.ts";

/** `finished`: the run has ended or is suspended, or there is nothing to do. `released`: the next reader of the partition continues it. */
export type WorkflowRunResult = "finished" | "released";

/** After this many refused commits in a row, two runners compete for the run, and the invocation is retried later. */
const maxRefusals = 5;

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
  const run = await openRun(received, current, context, ports);
  try {
    return await continueRun(run, context, config, ports);
  } finally {
    context.resumed.delete(run.id);
    await run.branches.abandon();
  }
}

async function continueRun(run: Run, context: RunContext, config: RunnerConfig, ports: RunnerPorts): Promise<WorkflowRunResult> {
  const { received, current } = run;
  let refusals = 0;
  let early: number | undefined;
  for (;;) {
    const begun = begin(received, run.history.last, current, ports.clock.now());
    answerResume(run, begun, context, ports);
    early ??= endedEarly(run, begun?.endsSuspension === true);
    if (begun === undefined) return "finished";
    const { state } = begun;
    if (hasEnded(state.status)) {
      if (early !== undefined) endWakeUp(run, early, ports);
      endLater(run, state, ports);
      return "finished";
    }
    if (state.status === "suspended" && begun.canceled === undefined && begun.paused === undefined) {
      // The invocation is acked only then: a crash before it repeats this.
      const first = suspensionsOf(state).toSorted((one, other) => one.until - other.until)[0];
      if (first === undefined) throw new Invariant(`run ${run.id} is suspended, and waits for nothing`);
      await ports.wakeUps.schedule(current.workflow, run.id, first.number, first.until);
      return "finished";
    }
    if (received.isReleased?.() === true && run.branches.size === 0) return "released";
    const commit = await commitNext(run, controlledBy(received.control?.(), begun, ports.clock.now()), context, config, ports);
    if (commit === "later") continue;
    if (commit === undefined) {
      if (++refusals >= maxRefusals) throw competing(run);
      await forget(run, context);
      continue;
    }
    refusals = 0;
    run.mayRepeat = false;
    run.committedAt = ports.clock.now();
    run.branches.committed(commit.workflow.before?.length ?? 0);
    reportCommit(commit, waitingCaller(run, state), ports);
  }
}

/** Answers the caller of a resume or cancel URL as soon as it is known whether it has an effect. */
function answerResume(run: Run, begun: Begun | undefined, { resumed: ended }: RunContext, ports: Pick<RunnerPorts, "answer">): void {
  const { resume } = run.received.invocation;
  const end =
    resume === undefined || begun === undefined ? undefined : viewOfBranch(begun.state, branchOf(resume.suspension))?.suspensionEnd;
  if (begun?.endsSuspension === true && end !== undefined) ended.add(run.id, end);
  if (resume?.answerTo === undefined || run.isAnswered) return;
  const outcome = resumeOutcome(resume, begun, run.history.last);
  if (outcome === undefined) return;
  run.isAnswered = true;
  ports.answer(resume.answerTo, { kind: "resume", outcome });
}

/** Executes the next step, if there is one, and commits. @returns undefined if the commit was refused, `later` if there is none yet */
async function commitNext(
  run: Run,
  begun: Begun,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<WorkflowCommit | "later" | undefined> {
  const { received, id, history } = run;
  const version = await versionOf(run, begun.state, context);
  const workflow = version ?? run.current;
  const openTrace = () => (ports.traces === undefined ? undefined : new RunTrace(ports.traces, received.invocation, run.parent));
  // Steps of branches overlap: of these the span is that of the commit.
  let trace = begun.state.fork === undefined ? openTrace() : undefined;
  const about: RunOfWorkflow = {
    workflow,
    run: id,
    invocation: received.invocation,
    commits: history.last === undefined || history.last.state === null ? 0 : history.last.workflow.number,
  };
  let commit: WorkflowCommit | undefined;
  try {
    const composed = await composeNext(run, begun, about, version !== undefined, context, config, ports);
    const [first, ...smaller] = composed ?? [];
    if (first === undefined) return "later";
    const smallest = smaller.at(-1) ?? first;
    trace ??= openTrace();
    const traced = { ...about, traceparent: trace?.startCommit() ?? run.parent };
    const replaced = (replacement: Replacement): WorkflowCommit => smallest(traced, replacement);
    const composeSmaller = (compose: Compose) => (): WorkflowCommit => {
      run.maxTogether = Math.ceil(run.maxTogether / 2);
      return compose(traced);
    };
    // Also the error of a step that continues may not fit, beside the exports of earlier steps. The end of a run has no exports.
    const stored = await history.append(
      first(traced),
      ...smaller.map(composeSmaller),
      (error) => replaced({ error, mayContinue: true }),
      (error) => replaced({ error, mayContinue: false }),
      (error) => smallest({ ...traced, withoutEvent: true }, { error, mayContinue: false }),
    );
    commit = stored === undefined || stored.state === null ? undefined : stored;
    return commit;
  } finally {
    trace?.end(commit);
  }
}

/** @returns what is committed, or what follows it if it is too large; undefined if nothing has ended yet */
async function composeNext(
  run: Run,
  begun: Begun,
  about: RunOfWorkflow,
  hasVersion: boolean,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<readonly Compose[] | undefined> {
  const { canceled, paused } = begun;
  const { workflow } = about;
  if (begun.state.isIncomplete === true) return [composeIncomplete(begun.state, canceled, workflow, ports)];
  // A suspended step is behind: it may have been the last one of a loop.
  const unsettled = resumeDue(begun.state, ports.clock.now());
  const placed: Settled = hasVersion ? placeIn(workflow, run, unsettled) : versionForgotten(begun.state, run.current);
  const settled = canceled === undefined ? await withFormerFiles(run, placed, workflow.steps, ports) : placed;
  const { state, failure, exit } = settled;
  if (run.branches.size === 0) {
    if (canceled !== undefined) return [composeEnd(state, unsettled, { canceled, failure: undefined, exit: undefined }, ports)];
    if (run.failed !== undefined) throw run.failed.error;
    if (run.refused !== undefined) return [composeStep(unsettled, run.refused, [], waitingCaller(run, state), ports)];
    if (isOver(settled) || hasReachedEnd(state, workflow.steps)) return [composeEnd(state, unsettled, { canceled, failure, exit }, ports)];
    if (paused !== undefined) return [composePause(state, paused, ports)];
    if (state.fork === undefined) {
      const how = { mayRepeat: run.mayRepeat, queue: run.history.source };
      const attempted = await attemptStep(run, about, { branch: 0, state }, how, context, config, ports);
      return [composeStep(state, attempted, [], waitingCaller(run, state), ports)];
    }
  }
  // Steps that have begun end in the state that still has their branches.
  const isLeft = isOver(settled) || !hasAll(state, run.branches.started);
  const waits = [canceled, paused, run.failed, run.refused].some((reason) => reason !== undefined);
  const isClosing = isLeft || waits || run.received.isReleased?.() === true;
  return composeBranchStep(run, about, { state: isLeft ? unsettled : state, isClosing }, context, config, ports);
}

const competing = ({ current, id }: Run): Unavailable =>
  new Unavailable(
    `run ${id} of workflow ${current.workflow}: ${maxRefusals} commits in a row were refused because another runner commits for it`,
  );

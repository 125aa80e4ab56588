import { Invariant } from "../../domain/errors.ts";
import type { Suspension, WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { attemptStep } from "./attempt-step.ts";
import { inBranch, leavesOf } from "./branches.ts";
import type { RunOfWorkflow } from "./compose-commit.ts";
import { composeStep, composeTogether, type Compose } from "./next-commit.ts";
import { resumed, withEnd } from "./next-state.ts";
import { waitingCaller, type Run, type RunContext } from "./open-run.ts";

/** How often requests of the API are looked for while no step ends: those that have not begun must not begin then. */
const controlPollMs = 500;

/**
 * While other branches are under way, the commits of a run have at least this between them: steps that end in the meantime share one, which costs
 * about as much as that of one step.
 */
const gatherMs = 10;

/**
 * Starts steps of branches that may run, and waits for the first one that has ended. Those that have ended in the meantime are committed with
 * it. @returns undefined if there is none yet
 */
export async function composeBranchStep(
  run: Run,
  about: RunOfWorkflow,
  { state, isClosing }: { readonly state: WorkflowRunState; readonly isClosing: boolean },
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<readonly Compose[] | undefined> {
  const { branches } = run;
  const leaves = leavesOf(state);
  const going = leaves.filter(({ status }) => status === "running");
  run.interrupted ??= new Set(run.mayRepeat ? going.map(({ branch }) => branch) : []);
  if (isClosing) branches.withdraw();
  for (const leaf of going) {
    if (branches.has(leaf.branch) || isClosing) continue;
    const mayRepeat = run.interrupted.delete(leaf.branch);
    branches.start(leaf.branch, (queue, withdrawn) =>
      attemptStep(run, about, leaf, { mayRepeat, queue, withdrawn }, context, config, ports),
    );
  }
  if (branches.size === 0) {
    if (isClosing) return undefined;
    throw new Invariant(`run ${run.id} is not suspended, and none of its branches goes on`);
  }
  const due = [ports.clock.now() + controlPollMs].concat(
    leaves.flatMap(({ suspension }) => (suspension !== null && goesOnByItself(suspension) ? suspension.until : [])),
  );
  const ended = await branches.next(Math.min(...due), () => ports.clock.now());
  if (ended === undefined) return undefined;
  if ("error" in ended) {
    run.failed ??= ended;
    return undefined;
  }
  if (ended.attempted.isRefused && branches.size > 0) {
    run.refused ??= ended.attempted;
    return undefined;
  }
  if (!isClosing) await branches.gather(run.maxTogether - 1, gatherMs - Math.max(0, ports.clock.now() - run.committedAt));
  const answerTo = waitingCaller(run, state);
  const alone = composeStep(state, ended.attempted, branches.started, answerTo, ports);
  const others = branches.alsoEnded.slice(0, run.maxTogether - 1);
  // The first commit of a run says how it began, and has one step.
  if (others.length === 0 || ended.attempted.isRefused || about.commits === 0) return [alone];
  return [composeTogether(state, [ended.attempted, ...others], branches.started, answerTo, ports), alone];
}

/** The state with its branches whose time has come, while others run: their wake-ups wait behind this invocation. */
export function resumeDue(given: WorkflowRunState, now: number): WorkflowRunState {
  let state = given;
  for (const { branch, suspension } of given.fork === undefined ? [] : leavesOf(given))
    if (suspension !== null && goesOnByItself(suspension) && suspension.until <= now)
      state = inBranch(state, branch, (view) => ({ state: resumed(withEnd(view, "continued", now), null) }));
  return state;
}

const goesOnByItself = ({ kind }: Suspension): boolean => kind === "delay" || kind === "rerun" || kind === "retry";

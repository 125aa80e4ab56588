import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { Caller } from "../run/caller.ts";
import { notExecuted } from "../run/execute.ts";
import type { Leaf } from "./branches.ts";
import { executionOf } from "./called-run.ts";
import type { RunOfWorkflow } from "./compose-commit.ts";
import { executeStep, stepAt, withCurrentSecrets } from "./execute-step.ts";
import { refusalOf, type Attempted } from "./next-commit.ts";
import { waitingCaller, type Run, type RunContext } from "./open-run.ts";

interface HowAttempted {
  /** A crash may have interrupted an attempt. */
  readonly mayRepeat: boolean;
  /** Key in the scheduler. */
  readonly queue: string;
  /** Aborts when the step must not begin any more. */
  readonly withdrawn?: AbortSignal;
}

/** Executes the next step of a run, or of a branch of it. @throws Unavailable; the reason of `withdrawn` */
export async function attemptStep(
  run: Run,
  { workflow, commits }: RunOfWorkflow,
  { branch, state }: Pick<Leaf, "branch" | "state">,
  { mayRepeat, queue, withdrawn }: HowAttempted,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<Attempted> {
  const step = withCurrentSecrets(stepAt(workflow, state.next), run.current);
  const attempt = state.failures + state.reruns + 1 + (mayRepeat ? 1 : 0);
  const answerTo = waitingCaller(run, state);
  const refused = refusalOf(run.received, run.current, state, commits);
  const about = { branch, step, index: state.next, attempt, isRefused: refused !== undefined };
  const withoutExecution =
    refused !== undefined ? notExecuted(refused) : state.returned !== undefined ? executionOf(state.returned) : undefined;
  if (withoutExecution !== undefined)
    return { ...about, executed: { execution: withoutExecution, startedAt: ports.clock.now(), secrets: {} } };
  const caller = answerTo === undefined ? undefined : new Caller(answerTo, step.timeoutMs ?? config.runTimeoutMs, ports);
  const occurrence = occurrenceOf(branch, state, commits);
  const attempted = {
    workflow,
    step,
    run: run.id,
    state,
    lists: run.lists,
    occurrence,
    attempt,
    queue,
    onResponse: caller?.onResponse,
    withdrawn,
  };
  const executed = await executeStep(attempted, context, config, ports).finally(() => caller?.end());
  return { ...about, executed };
}

/**
 * Identifies an execution of a step within its run, and is the same when it is repeated after a crash: the number of commits before it. In a
 * branch, others commit in the meantime: there it is the place of the branch, with the rounds, attempts and suspensions so far.
 */
function occurrenceOf(branch: number, { frames = [], failures, reruns, suspensions }: WorkflowRunState, commits: number): string {
  if (branch === 0) return String(commits);
  return JSON.stringify([branch, frames.map(({ step, part, index = 0 }) => [step, part, index]), failures, reruns, suspensions]);
}

import { hasMoved, type Deployment } from "../../domain/source/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import { SourceCommits, type SourceCommitsCache } from "../commit/source-commits.ts";
import { armNextLink } from "../commit/timer-chain.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { Sandbox } from "../sandbox/port.ts";
import { answerConfigure } from "./configure.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import { answerDryRun } from "./dry-run.ts";
import type { Hold } from "./hold.ts";
import type { ReceivedInvocation } from "./received.ts";
import { notRun } from "./not-run.ts";
import { runInvocation, type RunOutcome } from "./run.ts";
import { runWorkflow, type RunContext as WorkflowRunContext } from "../workflow/run-workflow.ts";
import type { WorkflowContext } from "../workflow/execute-step.ts";
import { answerWorkflowTest } from "../workflow/test-workflow.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";

/**
 * `finished`: committed, answered or dropped. `retry`: try again, before later invocations of the source. `paused`, `starting`: keep it, and
 * try again when its source changes or one of its hooks has run.
 */
export type InvocationResult = "finished" | "retry" | Hold;

/** State that lives as long as the runner. */
export interface RunContext {
  readonly deployments: DeploymentCache;
  readonly commits: SourceCommitsCache;
  /** The sandbox for `configure` calls and dry runs, which leave no commit. */
  readonly callSandbox: Sandbox;
  /** For runs of workflows: their sandbox refuses workflows that kill processes. */
  readonly workflows: WorkflowContext & { readonly sandbox: Sandbox };
}

/**
 * Maximum attempts of an invocation that fails because of an unexpected error, within about ten seconds. Then the error is committed, so
 * that later invocations run. While something is unavailable, an invocation is retried forever.
 */
const maxAttempts = 6;

/** Handles one invocation of any trigger. Never rejects: an error becomes `retry`. */
export async function handleInvocation(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { invocation, failures = 0 } = received;
  try {
    return await handleByTrigger(received, context, config, ports);
  } catch (error) {
    context.commits.delete(invocation.source);
    const fields = { op: "source.run", "source.id": invocation.source, trigger: invocation.trigger, err: error };
    if (error instanceof Unavailable) {
      ports.log.warn(fields, "an invocation cannot run now: trying again");
      return "retry";
    }
    if (failures + 1 < maxAttempts) {
      ports.log.error(fields, "an invocation failed because of an unexpected error: trying again");
      return "retry";
    }
    ports.log.error(fields, `an invocation failed ${failures + 1} times because of an unexpected error: giving up`);
    return giveUp(received, asError(error), context, config, ports);
  }
}

async function handleByTrigger(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { invocation } = received;
  const calling = { ...ports, sandbox: context.callSandbox };
  switch (invocation.trigger) {
    case "configure":
      await answerConfigure(invocation, config, calling);
      return "finished";
    case "dry-run":
      if (invocation.dryRun?.workflow === undefined) await answerDryRun(received, context.deployments, config, calling);
      else await answerWorkflowTest(received, workflowContext(context), config, calling);
      return "finished";
    default:
      if (isOfWorkflow(invocation)) return runWorkflowOrMove(received, context, config, ports);
      return runAndArm(received, context, config, ports);
  }
}

const isOfWorkflow = ({ source }: Invocation): boolean => kindOfId(source) === "workflow";

const workflowContext = ({ deployments, workflows }: RunContext): WorkflowRunContext => ({ deployments, ...workflows });

async function runWorkflowOrMove(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { source, generation } = received.invocation;
  const deployment = await context.deployments.workflow(source, generation);
  if (deployment === undefined) {
    dropOfDeleted(received, ports);
    return "finished";
  }
  if (hasMoved(deployment)) {
    await ports.moves.move(received.position);
    return "finished";
  }
  // Before the run, which may last longer than the timer's interval: runs of a workflow go side by side. Arming a link again is harmless.
  await armNext(received, deployment, ports);
  const result = await runWorkflow(received, deployment, workflowContext(context), config, {
    ...ports,
    sandbox: context.workflows.sandbox,
  });
  return result === "released" ? "retry" : result;
}

/** Arms the next tick of a chained timer, if the invocation was a tick of one. */
async function armNext(
  received: ReceivedInvocation,
  deployment: Deployment | WorkflowDeployment | undefined,
  ports: RunnerPorts,
): Promise<void> {
  if (deployment === undefined || received.invocation.chain === undefined) return;
  const timed = "workflow" in deployment ? { ...deployment, source: deployment.workflow, props: deployment.timers ?? {} } : deployment;
  await armNextLink(received, timed, ports);
}

async function runAndArm(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { outcome, deployment } = await runOrMove(received, context, config, ports);
  if (outcome === "paused" || outcome === "starting") return outcome;
  await armNext(received, deployment, ports);
  return "finished";
}

interface SourceRun {
  readonly outcome: RunOutcome;
  /** Undefined if the source was deleted or has moved to another pool. */
  readonly deployment?: Deployment;
}

async function runOrMove(
  received: ReceivedInvocation,
  { deployments, commits: cache }: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<SourceRun> {
  const { source, generation } = received.invocation;
  const deployment = deployments.cached(source, generation) ?? (await deployments.get(source, generation));
  if (deployment === undefined) return dropOfDeleted(received, ports);
  if (hasMoved(deployment)) {
    cache.delete(source);
    await ports.moves.move(received.position);
    return { outcome: "dropped" };
  }
  let commits = cache.find(source);
  if (commits === undefined) {
    commits = new SourceCommits(deployment.source, deployment.owner, ports.commits);
    await commits.load();
  }
  const outcome = await runInvocation(received, commits, deployment, config, ports);
  cache.set(commits);
  return { outcome, deployment };
}

/** An invocation that was stored while its source was removed: there is no history left that could record it. */
function dropOfDeleted({ invocation }: ReceivedInvocation, ports: Pick<RunnerPorts, "answer" | "log">): SourceRun {
  const { source, trigger, answerTo } = invocation;
  if (answerTo !== undefined) ports.answer(answerTo, notRun(invocation, "deleted"));
  if (trigger !== "timer")
    ports.log.warn(
      { op: "source.run", outcome: "deleted", "source.id": source, trigger },
      "an invocation is dropped: its source was deleted",
    );
  return { outcome: "dropped" };
}

/** Commits the error in place of the run. Drops a call or dry run, because its caller has stopped waiting. */
async function giveUp(
  received: ReceivedInvocation,
  failure: Error,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { trigger, source } = received.invocation;
  if (trigger === "configure" || trigger === "dry-run") return "finished";
  let isCommitted = false;
  try {
    const failed = { ...received, speculative: undefined, failure };
    if (isOfWorkflow(received.invocation)) return await runWorkflowOrMove(failed, context, config, ports);
    const { outcome, deployment } = await runOrMove(failed, context, config, ports);
    if (outcome === "paused" || outcome === "starting") return outcome;
    isCommitted = true;
    await armNext(received, deployment, ports);
    return "finished";
  } catch (error) {
    context.commits.delete(source);
    const fields = { op: "source.run", "source.id": source, trigger, err: error };
    if (isCommitted && !(error instanceof Unavailable)) {
      ports.log.error(fields, "a timer ends because its next tick cannot be armed");
      return "finished";
    }
    ports.log.error(fields, "the error of an invocation cannot be committed now: trying again");
    return "retry";
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

import { hasMoved } from "../domain/source/deployment.ts";
import { Unavailable } from "../domain/errors.ts";
import { SourceCommits, type SourceCommitsCache } from "./commit/source-commits.ts";
import { armNextLink, armNextPastTick } from "./commit/timer-chain.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import type { Sandbox } from "./sandbox/port.ts";
import { answerConfigure } from "./run/configure.ts";
import type { DeploymentCache } from "./run/deployment-cache.ts";
import { answerDryRun } from "./run/dry-run.ts";
import type { Hold } from "./run/hold.ts";
import type { ReceivedInvocation } from "./run/received.ts";
import { notRun } from "./run/not-run.ts";
import { runInvocation } from "./run/run.ts";
import { admitTick } from "./workflow/overlap.ts";
import { runWorkflow } from "./workflow/run-workflow.ts";
import type { WorkflowContext } from "./workflow/execute-step.ts";
import { answerWorkflowTest } from "./workflow/test-workflow.ts";
import { kindOfId } from "../domain/ids.ts";

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

/**
 * Handles one invocation of any trigger. Never rejects: an error becomes `retry`.
 *
 *     call, dry run ──▶ answer
 *     of a workflow ──▶ its deployment ──▶ tick admitted ──▶ next tick armed ──▶ runWorkflow
 *     of a source ────▶ its deployment ──▶ runInvocation ──▶ next tick armed
 *                            └── deleted: dropped; moved: to the other pool
 *
 * After `maxAttempts` unexpected errors it takes the same way once more, with the failure to commit in place of a run.
 */
export async function handleInvocation(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { invocation, failures = 0, failure } = received;
  try {
    return await handle(received, context, config, ports);
  } catch (error) {
    context.commits.delete(invocation.source);
    const fields = { op: "source.run", "source.id": invocation.source, trigger: invocation.trigger, err: error };
    if (error instanceof Unavailable) {
      ports.log.warn(fields, "an invocation cannot run now: trying again");
      return "retry";
    }
    if (failure !== undefined || failures + 1 < maxAttempts) {
      ports.log.error(fields, "an invocation failed because of an unexpected error: trying again");
      return "retry";
    }
    ports.log.error(fields, `an invocation failed ${failures + 1} times because of an unexpected error: giving up`);
    return handleInvocation({ ...received, speculative: undefined, failure: asError(error) }, context, config, ports);
  }
}

async function handle(
  received: ReceivedInvocation,
  context: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { invocation, failure } = received;
  switch (invocation.trigger) {
    case "configure":
    case "dry-run":
      // After so many attempts the caller has stopped waiting.
      if (failure === undefined) await answerCall(received, context, config, { ...ports, sandbox: context.callSandbox });
      return "finished";
    default:
      return kindOfId(invocation.source) === "workflow"
        ? handleOfWorkflow(received, context, config, ports)
        : handleOfSource(received, context, config, ports);
  }
}

async function answerCall(
  received: ReceivedInvocation,
  { deployments, workflows }: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<void> {
  const { invocation } = received;
  if (invocation.trigger === "configure") await answerConfigure(invocation, config, ports);
  else if (invocation.dryRun?.workflow === undefined) await answerDryRun(received, deployments, config, ports);
  else await answerWorkflowTest(received, { deployments, ...workflows }, config, ports);
}

async function handleOfSource(
  received: ReceivedInvocation,
  { deployments, commits: cache }: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { source, generation } = received.invocation;
  const deployment = deployments.cached(source, generation) ?? (await deployments.get(source, generation));
  if (deployment === undefined) return dropOfDeleted(received, ports);
  if (hasMoved(deployment)) {
    cache.delete(source);
    return moveOn(received, ports);
  }
  let commits = cache.find(source);
  if (commits === undefined) {
    commits = new SourceCommits(deployment.source, deployment.owner, ports.commits);
    await commits.load();
  }
  const outcome = await runInvocation(received, commits, deployment, config, ports);
  cache.set(commits);
  if (outcome === "paused" || outcome === "starting") return outcome;
  await armNext(received, deployment, ports);
  return "finished";
}

async function handleOfWorkflow(
  received: ReceivedInvocation,
  { deployments, workflows }: RunContext,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<InvocationResult> {
  const { source, generation } = received.invocation;
  const deployment = await deployments.workflow(source, generation);
  if (deployment === undefined) return dropOfDeleted(received, ports);
  if (hasMoved(deployment)) return moveOn(received, ports);
  const admission = await admitTick(received, deployment, ports);
  if (admission === "waits") return "finished";
  // Before the run, which may last longer than the timer's interval: runs of a workflow go side by side. Arming a link again is harmless.
  const timers = { ...deployment, source: deployment.workflow, props: deployment.timers ?? {} };
  if (received.invocation.backfill === undefined) await armNext(received, timers, ports, admission === "skipped");
  if (admission === "skipped") return "finished";
  const { sandbox, ...context } = workflows;
  const result = await runWorkflow(received, deployment, { deployments, ...context }, config, { ...ports, sandbox });
  if (result === "finished") await armNextPastTick(received, ports);
  return result === "released" ? "retry" : result;
}

/** The deployment has moved to another pool: its runner takes over. */
async function moveOn({ position }: ReceivedInvocation, { moves }: Pick<RunnerPorts, "moves">): Promise<"finished"> {
  await moves.move(position);
  return "finished";
}

/** An invocation that was stored while its source was removed: there is no history left that could record it. */
function dropOfDeleted({ invocation }: ReceivedInvocation, ports: Pick<RunnerPorts, "answer" | "log">): "finished" {
  const { source, trigger, answerTo } = invocation;
  if (answerTo !== undefined) ports.answer(answerTo, notRun(invocation, "deleted"));
  if (trigger !== "timer")
    ports.log.warn(
      { op: "source.run", outcome: "deleted", "source.id": source, trigger },
      "an invocation is dropped: its source was deleted",
    );
  return "finished";
}

/** Arms the next tick of a chained timer, if the invocation was a tick of one. If that keeps failing, the timer ends. */
async function armNext(
  received: ReceivedInvocation,
  deployment: Parameters<typeof armNextLink>[1],
  ports: RunnerPorts,
  isSkipped = false,
): Promise<void> {
  try {
    await armNextLink(received, deployment, ports, isSkipped);
  } catch (error) {
    if (received.failure === undefined || error instanceof Unavailable) throw error;
    const fields = { op: "source.run", "source.id": deployment.source, trigger: received.invocation.trigger, err: error };
    ports.log.error(fields, "a timer ends because its next tick cannot be armed");
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

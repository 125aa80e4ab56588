import { historyOfRun, workflowRunId } from "../../domain/invocation/run-id.ts";
import { parseWorkflowTimer } from "../../domain/schedule/schedule.ts";
import { dueAtOf } from "../../domain/schedule/ticks.ts";
import type { Overlap } from "../../domain/schedule/timer-options.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { endMarkerTtlSeconds } from "../../domain/workflow/run-commit.ts";
import { hasEnded } from "../../domain/workflow/run-state.ts";
import type { RunnerPorts } from "../ports.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { parseLast } from "./begin-run.ts";

/** `waits`: the tick is armed again. */
export type Admission = "runs" | "skipped" | "waits";

const firstWaitMs = 500;
const maxWaitMs = 30_000;

/** Decides about a tick of a chain while the last run of its timer may not have ended, see domain/schedule/timer-options.ts. @throws Unavailable */
export async function admitTick(
  received: ReceivedInvocation,
  deployment: WorkflowDeployment,
  ports: Pick<RunnerPorts, "commits" | "timers" | "clock">,
): Promise<Admission> {
  const { chain, lastRun } = received.invocation;
  const overlap = overlapOf(received, deployment);
  if (chain === undefined || lastRun === undefined || overlap === "allow") return "runs";
  if (await hasRunEnded(received, lastRun, deployment, ports)) return "runs";
  if (await hasBegun(received, deployment, ports)) return "runs";
  if (overlap === "skip") return "skipped";
  if (overlap === "cancel") await ports.timers.cancel(deployment.workflow, lastRun.id, "the next tick of its timer is due");
  await waitForRun(received, chain, ports);
  return "waits";
}

/** A tick of an earlier version of the timer runs as with `allow`: its chain ends with it. */
function overlapOf({ invocation: { chain = "", backfill, generation } }: ReceivedInvocation, deployment: WorkflowDeployment): Overlap {
  if (backfill !== undefined) return backfill.inTurn ? "queue" : "allow";
  const timer = deployment.timers?.[chain];
  return timer === undefined || generation !== deployment.generation ? "allow" : (parseWorkflowTimer(timer).overlap ?? "allow");
}

/**
 * A run has no commit before its first step ends, and none some time after its end. In the first case its invocation is queued at this
 * runner, which has all of the workflow; after a crash it soon is again.
 */
async function hasRunEnded(
  { isQueued }: ReceivedInvocation,
  { id, startedAt }: { readonly id: string; readonly startedAt: number },
  { workflow, owner }: WorkflowDeployment,
  { commits, clock }: Pick<RunnerPorts, "commits" | "clock">,
): Promise<boolean> {
  const history = historyOfRun(workflow, id);
  if (isQueued?.(history) === true) return false;
  const { commit } = await commits.last(owner, history);
  if (commit === undefined) return clock.now() - startedAt > endMarkerTtlSeconds * 1_000;
  const { state } = parseLast(commit);
  return state === null || hasEnded(state.status);
}

/** The run of this tick itself goes on after a crash, whatever it began beside. */
async function hasBegun(
  { invocation, position }: ReceivedInvocation,
  { workflow, owner }: WorkflowDeployment,
  { commits }: Pick<RunnerPorts, "commits">,
): Promise<boolean> {
  return (await commits.last(owner, historyOfRun(workflow, workflowRunId(invocation, position)))).commit !== undefined;
}

/** Arms the tick again: first after half a second, later after a quarter of the time that it has waited. */
async function waitForRun(
  { invocation, storedAt }: ReceivedInvocation,
  chain: string,
  { timers, clock }: Pick<RunnerPorts, "timers" | "clock">,
): Promise<void> {
  const now = clock.now();
  const waited = invocation.backfill === undefined ? now - dueAtOf(invocation, storedAt) : maxWaitMs;
  const delay = Math.min(maxWaitMs, Math.max(firstWaitMs, waited / 4));
  await timers.armAt(invocation.source, chain, Math.round(now + delay), invocation);
}

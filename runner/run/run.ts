import type { Commit, SourceState } from "../../domain/run/commit.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { Invocation, RunSummary } from "../../domain/invocation/invocation.ts";
import type { RunError } from "../../domain/run-products.ts";
import { isDisabled } from "../../domain/run/kills.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { deletedCode } from "../../domain/source/ended-work.ts";
import { composeCommit, type FinishedRun } from "../commit/compose.ts";
import type { SourceCommits } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { execute, notExecuted } from "./execute.ts";
import { decide, type Hold } from "./hold.ts";
import { notRun } from "./not-run.ts";
import { isProcessed, type ReceivedInvocation, type SpeculativeRun } from "./received.ts";
import { RunTrace, traceWait } from "./run-trace.ts";

/** `committed`: now or before. `dropped`: there is nothing to run. Otherwise it stays in its queue. */
export type RunOutcome = "committed" | "dropped" | Hold;

/** After this many refused commits in a row, two runners compete for the source, and the invocation is retried later. */
const maxRefusals = 5;

/**
 * Invocation in, commit out:
 *
 *     received ── already processed ──▶ committed
 *        │    ├─── source paused or starting ──▶ kept
 *        ▼    └─── tick of a paused source ──▶ dropped
 *     execute ──▶ compose ──▶ append ── stored ──▶ committed, reported
 *        ▲                       │
 *        └──── load the state ◀──┴ refused: another runner has committed
 *
 * @throws Unavailable when the invocation must be retried later
 */
export async function runInvocation(
  received: ReceivedInvocation,
  commits: SourceCommits,
  deployment: Deployment,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<RunOutcome> {
  const { invocation } = received;
  let parent: string | undefined;
  for (let refusals = 0; refusals < maxRefusals; refusals++) {
    if (isProcessed(received, commits.state)) return "committed";
    const room = { hasRoom: received.hasRoom?.() ?? true, ageMs: ports.clock.now() - received.storedAt };
    const decision = decide(invocation, deployment, commits.state, room);
    if (decision === "drop") return "dropped";
    if (decision === "paused" || decision === "starting") return decision;
    if (invocation.trigger === "timer" && isDisabled(commits.state.kills, deployment.id)) return "dropped";
    parent ??= traceWait(received, ports);
    const decided = decision === "run" ? received : refuse(received, decision, ports);
    const commit = await runAndCommit(decided, commits, deployment, config, ports, parent);
    if (commit !== undefined) {
      report(invocation, commit, ports);
      return "committed";
    }
    ports.sandbox.evict(deployment.source); // Its module state reflects a commit that was refused.
    await commits.load();
  }
  throw new Unavailable(`source ${deployment.source}: ${maxRefusals} commits in a row were refused because another runner commits for it`);
}

/** The invocation ends with this error. A caller that waits gets the answer now. */
function refuse(received: ReceivedInvocation, refusal: RunError, ports: Pick<RunnerPorts, "answer">): ReceivedInvocation {
  const { invocation } = received;
  const reason = refusal.code === deletedCode ? "deleted" : "paused";
  if (invocation.answerTo !== undefined && invocation.trigger === "http") ports.answer(invocation.answerTo, notRun(invocation, reason));
  return { ...received, refusal };
}

/** @returns the stored commit; undefined if it was refused */
async function runAndCommit(
  received: ReceivedInvocation,
  commits: SourceCommits,
  deployment: Deployment,
  config: RunnerConfig,
  ports: RunnerPorts,
  parent: string | undefined,
): Promise<Commit | undefined> {
  const trace = ports.traces === undefined ? undefined : new RunTrace(ports.traces, received.invocation, parent);
  let commit: Commit | undefined;
  try {
    const speculative = received.speculative === undefined ? undefined : await received.speculative;
    const isReusable = speculative !== undefined && isStillValid(speculative, deployment.id, commits.state);
    const run = isReusable ? speculative.run : await execute(received, commits.state, deployment, config, ports);
    const traceparent = trace === undefined ? parent : trace.startCommit();
    const finished = traceparent === undefined ? run : { ...run, traceparent };
    const compose = (what: FinishedRun): Commit => composeCommit(what, commits.state, ports.clock.now(), ports.randomId);
    const composed = compose(finished);
    const withoutEvent = (run: FinishedRun): Commit => compose({ ...run, event: undefined });
    const refused = (error: RunError): FinishedRun => ({ ...finished, execution: notExecuted(error) });
    commit = await commits.append(
      composed,
      // A failed run keeps its own error rather than its event.
      ...(composed.run.received === undefined ? [] : [() => withoutEvent(finished)]),
      (error) => compose(refused(error)),
      (error) => withoutEvent(refused(error)),
    );
    return commit;
  } finally {
    trace?.end(commit);
  }
}

/** Whether a run that starts now would start from the same code and db. */
function isStillValid({ run, db }: SpeculativeRun, deployment: string, state: SourceState): boolean {
  return run.deployment.id === deployment && JSON.stringify(db) === JSON.stringify(state.db);
}

/** Sends the summary to the caller and logs one line, without messages and values of user code: those are only for the owner. */
function report({ answerTo }: Invocation, commit: Commit, ports: RunnerPorts): void {
  if (answerTo !== undefined) ports.answer(answerTo, { kind: "run", run: summaryOf(commit) });
  const { source, owner, run, events, error } = commit;
  const { id, trigger, generation, durationMs, cpuMs } = run;
  const outcome = error === null ? "ok" : (error.code ?? "threw");
  const about = { "source.id": source, "owner.id": owner, "run.id": id, trigger, generation, durationMs, cpuMs, events: events.length };
  ports.log.info({ op: "source.run", outcome, ...about }, "run");
}

const summaryOf = ({ run: { received: _, ...run }, source, events, logs, error }: Commit): RunSummary => ({
  ...run,
  source,
  eventIds: events.map(({ id }) => id),
  logs,
  error,
});

import { acceptEmits, dedupeIdOf, orderByTime } from "../../domain/event/dedupe.ts";
import { emptyState, type SourceState } from "../../domain/run/commit.ts";
import { hasMoved, type Deployment } from "../../domain/source/deployment.ts";
import { maxDryRunBytes, type DryRunOutcome, type JudgedEmit } from "../../domain/invocation/dry-run.ts";
import { composeCommit, type FinishedRun } from "../commit/compose.ts";
import { SourceCommits } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import { execute, type ExecuteConfig, type ExecutePorts, inIsolate } from "./execute.ts";
import type { ReceivedInvocation } from "./received.ts";
import type { Emit, Products } from "../sandbox/port.ts";

type DryRunPorts = Omit<ExecutePorts, "answer" | "sendPiece"> & Pick<RunnerPorts, "randomId">;

/**
 * Runs a source from its current state, or a draft of one from none, commits nothing, and answers what would have been committed. The
 * state is always loaded, because another runner may commit for the source. The dry run has its own isolate, so that the source's warm isolate keeps its module state.
 * After its deadline, or if the source was deleted or has moved, the dry run is dropped. One that is redelivered runs twice, and the first
 * answer counts.
 *
 * @throws Unavailable when it must be retried later
 */
export async function answerDryRun(
  received: ReceivedInvocation,
  deployments: DeploymentCache,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<void> {
  const { dryRun, answerTo, generation, source: runId } = received.invocation;
  if (dryRun === undefined || answerTo === undefined) return;
  const leftMs = dryRun.deadline - ports.clock.now();
  const deployment = leftMs <= 0 ? undefined : (dryRun.draft ?? (await deployments.get(dryRun.source, generation)));
  if (deployment === undefined || hasMoved(deployment)) return;
  const state = dryRun.draft === undefined ? await storedState(deployment, ports) : emptyState;
  const limited = { ...config, runTimeoutMs: Math.min(config.runTimeoutMs, leftMs) };
  const outcome = await performDryRun(received, state, deployment, limited, ports);
  ports.answer(answerTo, { kind: "dry-run", outcome: limitSize(outcome) });
  const { durationMs, cpuMs, error } = outcome;
  const fields = { "source.id": deployment.source, "owner.id": deployment.owner, "run.id": runId, durationMs, cpuMs };
  ports.log.info({ op: "source.dry-run", outcome: error === null ? "ok" : (error.code ?? "threw"), ...fields }, "dry run");
}

/** Runs a source from a state, and returns what would have been committed. */
export async function performDryRun(
  received: ReceivedInvocation,
  state: SourceState,
  deployment: Deployment,
  config: ExecuteConfig,
  ports: DryRunPorts,
): Promise<DryRunOutcome> {
  const { source: runId } = received.invocation;
  const sandbox = inIsolate(ports.sandbox, runId);
  const finished = await execute(received, state, deployment, config, {
    ...ports,
    sandbox,
    answer: () => undefined,
    sendPiece: () => Promise.resolve(false),
  });
  ports.sandbox.evict(runId);
  return outcomeOf(finished, state, ports);
}

async function storedState({ source, owner }: Deployment, ports: RunnerPorts): Promise<SourceState> {
  const commits = new SourceCommits(source, owner, ports.commits);
  await commits.load();
  return commits.state;
}

function outcomeOf(finished: FinishedRun, state: SourceState, { clock, randomId }: Pick<RunnerPorts, "clock" | "randomId">): DryRunOutcome {
  const { run, logs, error } = composeCommit(finished, state, clock.now(), randomId);
  const { execution, deployment } = finished;
  const products = execution.outcome === "crashed" ? undefined : execution;
  return {
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    cpuMs: run.cpuMs,
    emits: judgeEmits(products?.emits ?? [], deployment.dedupe ?? "none", state),
    logs,
    writes: writesOf(products?.db ?? {}),
    response: products?.response ?? null,
    error,
    result: run.result,
  };
}

function judgeEmits(emits: readonly Emit[], strategy: NonNullable<Deployment["dedupe"]> | "none", { dedupe }: SourceState): JudgedEmit[] {
  const accepted = new Set(acceptEmits(strategy, dedupe, emits).accepted);
  const isRefused = (emit: Emit): boolean => acceptEmits(strategy, dedupe, [emit]).errors.length > 0;
  return orderByTime(emits).map((emit) => ({
    verdict: accepted.has(emit) ? "emitted" : isRefused(emit) ? "refused" : "duplicate",
    id: dedupeIdOf(emit),
    channel: emit.name ?? "",
    summary: emit.summary ?? null,
    ts: emit.ts ?? emit.at,
    ...(emit.deliverAt === undefined ? {} : { deliverAt: emit.deliverAt }),
    payload: emit.payload,
  }));
}

function writesOf(db: Products["db"]): DryRunOutcome["writes"] {
  return Object.entries(db).flatMap(([prop, keys]) => Object.entries(keys).map(([key, value]) => ({ prop, key, value })));
}

/** The answer is one message, and NATS drops a message that is too large without an error. */
function limitSize(outcome: DryRunOutcome): DryRunOutcome {
  const bytes = Buffer.byteLength(JSON.stringify(outcome));
  if (bytes <= maxDryRunBytes) return outcome;
  const message = `the result of this dry run has ${bytes} bytes of JSON: the limit is ${maxDryRunBytes}`;
  const error = { name: "LimitError", code: "dry_run_too_large", message };
  return { ...outcome, emits: [], logs: [], writes: [], response: null, result: null, error };
}

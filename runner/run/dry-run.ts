import { acceptEmits, dedupeIdOf, orderByTime } from "../../domain/event/dedupe.ts";
import type { SourceState } from "../../domain/run/commit.ts";
import { hasMoved, type Deployment } from "../../domain/source/deployment.ts";
import { mostDryRunBytes, type DryRunOutcome, type JudgedEmit } from "../../domain/run/dry-run.ts";
import { composeCommit, type Ran } from "../commit/compose.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import { History } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { execute, inIsolate, type Received } from "./run.ts";
import type { Emit, Products } from "../sandbox/port.ts";

/**
 * Runs a source on what it remembers, commits nothing, and answers what would have been committed. The state is read anew, since another
 * runner may be extending it; the isolate is its own, so that the source's keeps its module state. Nobody waits for one that is past its
 * deadline, or whose source is gone or elsewhere: it is dropped. One that is delivered twice runs twice, and the first answer counts.
 *
 * @throws Unavailable when it must be tried again later.
 */
export async function answerDryRun(
  received: Received,
  deployments: DeploymentCache,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<void> {
  const { dryRun, answerTo, generation, source: run } = received.invocation;
  if (dryRun === undefined || answerTo === undefined) return;
  const leftMs = dryRun.deadline - ports.clock.now();
  const deployment = leftMs <= 0 ? undefined : await deployments.get(dryRun.source, generation);
  if (deployment === undefined || hasMoved(deployment)) return;
  const history = new History(deployment.source, deployment.owner, ports.histories);
  await history.load();
  const sandbox = inIsolate(ports.sandbox, run);
  const limited = { ...config, runTimeoutMs: Math.min(config.runTimeoutMs, leftMs) };
  const ran = await execute(received, history, deployment, limited, { ...ports, sandbox, answer: () => undefined });
  ports.sandbox.evict(run);
  const outcome = outcomeOf(ran, history.state, ports);
  ports.answer(answerTo, { kind: "dry-run", outcome: fitting(outcome) });
  const { durationMs, cpuMs, error } = outcome;
  const fields = { "source.id": deployment.source, "owner.id": deployment.owner, "run.id": run, durationMs, cpuMs };
  ports.log.info({ op: "source.dry-run", outcome: error === null ? "ok" : (error.code ?? "threw"), ...fields }, "dry run");
}

function outcomeOf(ran: Ran, state: SourceState, { clock, randomId }: Pick<RunnerPorts, "clock" | "randomId">): DryRunOutcome {
  const { run, logs, error } = composeCommit(ran, state, clock.now(), randomId);
  const { execution, deployment } = ran;
  const products = execution.outcome === "crashed" ? undefined : execution;
  return {
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    cpuMs: run.cpuMs,
    emits: judge(products?.emits ?? [], deployment.dedupe ?? "none", state),
    logs,
    writes: writesOf(products?.db ?? {}),
    response: products?.response ?? null,
    error,
    result: run.result,
  };
}

function judge(emits: readonly Emit[], strategy: NonNullable<Deployment["dedupe"]> | "none", { dedupe }: SourceState): JudgedEmit[] {
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

/** The answer is one message, and the server drops one that is too large in silence. */
function fitting(outcome: DryRunOutcome): DryRunOutcome {
  const bytes = Buffer.byteLength(JSON.stringify(outcome));
  if (bytes <= mostDryRunBytes) return outcome;
  const message = `what this run would have left is ${bytes} bytes of JSON: of a dry run at most ${mostDryRunBytes} are told`;
  const error = { name: "LimitError", code: "dry_run_too_large", message };
  return { ...outcome, emits: [], logs: [], writes: [], response: null, result: null, error };
}

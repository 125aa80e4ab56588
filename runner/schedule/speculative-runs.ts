import { hasMoved } from "../../domain/source/deployment.ts";
import { SourceCommits } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { DeploymentCache } from "../run/deployment-cache.ts";
import { execute, inIsolate } from "../run/execute.ts";
import type { SpeculativeRun } from "../run/received.ts";
import { isAwaited, isUrgent, type QueuedInvocation, type SourceQueue } from "./source-queue.ts";

/** Runs an invocation before its turn. Undefined: it could not run, and will run in its turn. Never rejects. */
export type RunSpeculatively = (received: QueuedInvocation["received"]) => Promise<SpeculativeRun | undefined>;

/** Most runs other than hooks end within this time, and services that verify an endpoint wait longer. */
const delayMs = 2_000;
/** Maximum requests that run speculatively behind one run. */
const maxBehindRun = 8;

/**
 * Runs requests whose callers wait for the response before their turn: at once behind a hook, after two seconds behind any other run that
 * is not such a request itself. A hook, or a tick that renews a subscription, may register the source's endpoint with a service, and the
 * service may send a request to the endpoint before it answers. Without a response to that request, the hook would fail.
 *
 * The commit is made in the request's turn. If the source's db has changed by then, the request runs again first.
 *
 *     queued ── behind a hook, or 2 s behind a run ──▶ running speculatively ──▶ response sent
 *        │                                                     │
 *        └──────────────── its turn ◀──────────────────────────┘
 *                             ├── same db: commit the speculative run
 *                             └── no speculative run, or another db: run, commit
 */
export class SpeculativeRuns {
  readonly #run: RunSpeculatively;
  readonly #considered = new WeakSet<QueuedInvocation>();
  readonly #runs = new WeakMap<QueuedInvocation, Promise<SpeculativeRun | undefined>>();

  constructor(run: RunSpeculatively) {
    this.#run = run;
  }

  /** Call this when a run starts, and when an invocation is queued behind one. */
  consider(queue: SourceQueue): void {
    const { running } = queue;
    if (running === undefined || isAwaited(running)) return;
    for (const entry of queue.awaited(maxBehindRun)) {
      if (isUrgent(running)) this.#start(entry);
      else if (!this.#considered.has(entry)) setTimeout(() => this.#startIfQueued(queue, entry), delayMs).unref();
      this.#considered.add(entry);
    }
  }

  /** Removes and returns the speculative run of the invocation, if there is one. */
  take(entry: QueuedInvocation): Promise<SpeculativeRun | undefined> | undefined {
    const run = this.#runs.get(entry);
    this.#runs.delete(entry);
    return run;
  }

  /** Keeps the run for the invocation's next turn. */
  putBack(entry: QueuedInvocation, run: Promise<SpeculativeRun | undefined>): void {
    this.#runs.set(entry, run);
  }

  hasRun(entry: QueuedInvocation): boolean {
    return this.#runs.has(entry);
  }

  #startIfQueued(queue: SourceQueue, entry: QueuedInvocation): void {
    if (queue.running !== undefined && !isAwaited(queue.running) && queue.includes(entry)) this.#start(entry);
  }

  #start(entry: QueuedInvocation): void {
    if (!this.#runs.has(entry)) this.#runs.set(entry, this.#run(entry.received));
  }
}

/** Runs in an isolate of its own, from the state of the last commit: the source's warm isolate is busy with its current run. */
export async function runSpeculatively(
  received: QueuedInvocation["received"],
  deployments: DeploymentCache,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<SpeculativeRun | undefined> {
  const { invocation, position } = received;
  const isolate = `speculative_${position.seq}_${position.index}`;
  try {
    const deployment = await deployments.get(invocation.source, invocation.generation);
    if (deployment === undefined || hasMoved(deployment) || !deployment.active) return undefined;
    const commits = new SourceCommits(deployment.source, deployment.owner, ports.commits);
    await commits.load();
    const sandbox = inIsolate(ports.sandbox, isolate);
    const run = await execute({ ...received, skippedTicks: 0 }, commits.state, deployment, config, { ...ports, sandbox });
    return { run, db: commits.state.db };
  } catch (error) {
    const fields = { op: "source.speculative-run", "source.id": invocation.source, err: error };
    ports.log.warn(fields, "a speculative run failed: the request runs in its turn");
    return undefined;
  } finally {
    ports.sandbox.evict(isolate);
  }
}

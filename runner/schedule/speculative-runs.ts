import { hasMoved } from "../../domain/source/deployment.ts";
import type { DeploymentCache } from "../run/deployment-cache.ts";
import { History } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { execute, inIsolate, type SpeculativeRun } from "../run/run.ts";
import type { SourceQueue } from "./source-queue.ts";
import { isAwaited, isUrgent, type Waiting } from "./disposition.ts";

/** Runs an invocation before its turn. Undefined: it could not, and runs when its turn comes. Never rejects. */
export type RunSpeculatively = (received: Waiting["received"]) => Promise<SpeculativeRun | undefined>;

/** Most runs that are no hooks end within this time, and services that check an endpoint wait longer, ms. */
const delayMs = 2_000;
/** Requests that run speculatively behind one run. */
const maxBehindRun = 8;

/**
 * Runs requests whose callers wait for the response before their turn, at once behind a hook and after two seconds behind any other run
 * that is no such request itself. A hook, or a tick that renews what a hook made, may register the source's endpoint with a service that
 * sends a request there before it answers: without a response to it the hook would fail.
 *
 * The request keeps its turn: its commit is made then, and if the source's db has changed, it runs again first.
 */
export class SpeculativeRuns {
  readonly #run: RunSpeculatively;
  readonly #considered = new WeakSet<Waiting>();
  readonly #runs = new WeakMap<Waiting, Promise<SpeculativeRun | undefined>>();

  constructor(run: RunSpeculatively) {
    this.#run = run;
  }

  /** To be called when a run begins and when an invocation is queued behind one. */
  consider(queue: SourceQueue): void {
    const { running } = queue;
    if (running === undefined || isAwaited(running)) return;
    for (const entry of queue.awaited(maxBehindRun)) {
      if (isUrgent(running)) this.#begin(entry);
      else if (!this.#considered.has(entry)) setTimeout(() => this.#beginIfQueued(queue, entry), delayMs).unref();
      this.#considered.add(entry);
    }
  }

  /** The speculative run of the invocation, if there is one; only once. */
  take(entry: Waiting): Promise<SpeculativeRun | undefined> | undefined {
    const run = this.#runs.get(entry);
    this.#runs.delete(entry);
    return run;
  }

  #beginIfQueued(queue: SourceQueue, entry: Waiting): void {
    if (queue.running !== undefined && !isAwaited(queue.running) && queue.includes(entry)) this.#begin(entry);
  }

  #begin(entry: Waiting): void {
    if (!this.#runs.has(entry)) this.#runs.set(entry, this.#run(entry.received));
  }
}

/** Runs it in an isolate of its own, on what the last commit left: the source's warm isolate is busy with its run. */
export async function runSpeculatively(
  received: Waiting["received"],
  deployments: DeploymentCache,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<SpeculativeRun | undefined> {
  const { invocation, position } = received;
  const isolate = `speculative_${position.seq}_${position.index}`;
  try {
    const deployment = await deployments.get(invocation.source, invocation.generation);
    if (deployment === undefined || hasMoved(deployment) || !deployment.active) return undefined;
    const history = new History(deployment.source, deployment.owner, ports.histories);
    await history.load();
    const { db } = history.state;
    const ran = await execute({ ...received, skippedTicks: 0 }, history, deployment, config, {
      ...ports,
      sandbox: inIsolate(ports.sandbox, isolate),
    });
    return { ran, db };
  } catch (error) {
    ports.log.warn(
      { op: "source.speculative-run", "source.id": invocation.source, err: error },
      "a request is answered when its turn comes",
    );
    return undefined;
  } finally {
    ports.sandbox.evict(isolate);
  }
}

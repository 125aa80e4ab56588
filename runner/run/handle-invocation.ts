import type { LRUCache } from "lru-cache";
import { hasMoved, type Deployment } from "../../domain/source/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import { armNextLink } from "../commit/timer-chain.ts";
import { answerConfigure } from "./configure.ts";
import type { DeploymentCache } from "./deployment-cache.ts";
import { answerDryRun } from "./dry-run.ts";
import { History } from "../commit/source-commits.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import { answerInvocation, type Received } from "./run.ts";
import type { Sandbox } from "../sandbox/port.ts";
import type { Answer } from "../schedule/disposition.ts";

/** What a runner knows of sources. */
export interface Known {
  readonly deployments: DeploymentCache;
  readonly histories: LRUCache<string, History>;
  /** The sandbox for calls and dry runs, which are no runs of a source. */
  readonly calls: Sandbox;
}

/**
 * After this many failures that retrying will not change, about ten seconds, an invocation is committed as an error, so that what waits
 * behind it runs. While something is unavailable, it is retried forever.
 */
const maxFailures = 6;

/** Answers one invocation of any kind, and turns errors into `failed`. */
export async function answer(received: Received, known: Known, config: RunnerConfig, ports: RunnerPorts): Promise<Answer> {
  const { invocation, failures = 0 } = received;
  try {
    await answerByKind(received, known, config, ports);
    return "done";
  } catch (error) {
    known.histories.delete(invocation.source);
    const fields = { op: "source.run", "source.id": invocation.source, trigger: invocation.trigger, err: error };
    if (error instanceof Unavailable) {
      ports.log.warn(fields, "an invocation cannot be answered now: trying again");
      return "failed";
    }
    if (failures + 1 < maxFailures) {
      ports.log.error(fields, "an invocation cannot be answered because of an unexpected error: trying again");
      return "failed";
    }
    ports.log.error(fields, `an invocation has failed ${failures + 1} times because of an unexpected error: giving it up`);
    return giveUp(received, asError(error), known, config, ports);
  }
}

async function answerByKind(received: Received, known: Known, config: RunnerConfig, ports: RunnerPorts): Promise<void> {
  const { invocation } = received;
  const { deployments, calls } = known;
  switch (invocation.trigger) {
    case "configure":
      return answerConfigure(invocation, config, { ...ports, sandbox: calls });
    case "dry-run":
      return answerDryRun(received, deployments, config, { ...ports, sandbox: calls });
    default: {
      const deployment = await commitOrMove(received, known, config, ports);
      if (deployment !== undefined && invocation.chain !== undefined) await armNextLink(received, deployment, ports);
    }
  }
}

/** @returns the deployment; undefined when nothing of the source runs here any more */
async function commitOrMove(
  received: Received,
  { deployments, histories }: Known,
  config: RunnerConfig,
  ports: RunnerPorts,
): Promise<Deployment | undefined> {
  const { invocation } = received;
  const { source, generation } = invocation;
  const deployment = deployments.cached(source, generation) ?? (await deployments.get(source, generation));
  if (deployment === undefined) return undefined; // The source was deleted.
  if (hasMoved(deployment)) {
    histories.delete(invocation.source);
    await ports.moves.move(received.position);
    return undefined;
  }
  let history = histories.get(invocation.source);
  if (history === undefined) {
    history = new History(deployment.source, deployment.owner, ports.histories);
    await history.load();
  }
  await answerInvocation(received, history, deployment, config, ports);
  // Set again as large as it is now: the cache remembers the size that an entry had when it was set.
  histories.delete(history.source);
  histories.set(history.source, history);
  return deployment;
}

/** Commits the error in place of the run. A call or dry run is dropped: its caller has stopped waiting. */
async function giveUp(received: Received, failure: Error, known: Known, config: RunnerConfig, ports: RunnerPorts): Promise<Answer> {
  const { trigger, source } = received.invocation;
  if (trigger === "configure" || trigger === "dry-run") return "done";
  let isCommitted = false;
  try {
    const deployment = await commitOrMove({ ...received, speculative: undefined, failure }, known, config, ports);
    isCommitted = true;
    if (deployment !== undefined) await armNextLink(received, deployment, ports);
    return "done";
  } catch (error) {
    known.histories.delete(source);
    const isOver = isCommitted && !(error instanceof Unavailable);
    const fields = { op: "source.run", "source.id": source, trigger, err: error };
    ports.log.error(fields, isOver ? "a timer cannot be armed and has ended" : "an invocation cannot be given up now: trying again");
    return isOver ? "done" : "failed";
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

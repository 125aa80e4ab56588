import { LRUCache } from "lru-cache";
import { defaultBacklogLimits } from "../domain/admission.ts";
import { hasMoved } from "../domain/deployment.ts";
import { Unavailable } from "../domain/errors.ts";
import { partitionOf } from "../domain/partition.ts";
import { partitionCount } from "../domain/subjects.ts";
import { withoutKillers } from "./call-kills.ts";
import { armNextLink } from "./chain.ts";
import { CommitBudget } from "./commit-budget.ts";
import { answerConfigure } from "./configure.ts";
import { DeploymentCache } from "./deployment-cache.ts";
import { answerDryRun } from "./dry-run.ts";
import { History } from "./history.ts";
import { Backlog } from "./intake/backlog.ts";
import { largeCommitsInTurn } from "./large-commits.ts";
import { OpenMessages } from "./intake/open-messages.ts";
import { Partitions } from "./intake/partitions.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import { metered } from "./metered.ts";
import { behindRefusal, OwnersOverQuota, refusal } from "./over-quota.ts";
import { OwnerWeights } from "./owner-weights.ts";
import { queueLimits } from "./queue-limits.ts";
import { runAhead } from "./run-ahead.ts";
import { answerInvocation, type Received } from "./run.ts";
import type { Sandbox } from "./sandbox/port.ts";
import { SourceQueues } from "./source-queues.ts";
import type { Answer } from "./waiting.ts";

const usualLimits = queueLimits({ children: 2, ownerRuns: 100 });
/** Of all invocations that wait in a runner. A pod of 3 GB holds them besides its isolates. */
const backlogBytes = 256 * 2 ** 20;

const ownerCommitBytes = 64 * 2 ** 20;
const allProcessed = { upTo: () => Promise.resolve(Array.from({ length: partitionCount }, () => Number.POSITIVE_INFINITY)) };

export interface Runner {
  /** Invocations waiting or running in this runner. */
  readonly backlog: () => number;
  /** Leaves what waits to other runners, lets runs end until the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Starts the runner role: pulls its share of partitions, runs each source's invocations one after the other, commits. */
export async function startRunner(config: RunnerConfig, ports: RunnerPorts): Promise<Runner> {
  const deployments = new DeploymentCache(ports.deployments);
  const histories = new LRUCache<string, History>({ maxSize: config.historyBudgetBytes, sizeCalculation: sizeOf });
  const sandbox = metered(ports.sandbox, {
    cost: (owner, costMs) => queues.charge(owner, costMs),
    paused: (source) => queues.pause(source),
    ended: (outcome, durationMs) => ports.metrics?.ran(outcome, durationMs),
  });
  const budget = new CommitBudget(ports.processed ?? allProcessed, {
    ownerBytes: config.ownerCommitBytes ?? ownerCommitBytes,
    onChange: (owner, isOver) => {
      const fields = { "owner.id": owner, reason: "owner_commits" };
      if (isOver)
        ports.log.warn({ op: "owner.park", ...fields }, "delivery is behind with an owner's commits: no further run of the owner starts");
      else ports.log.info({ op: "owner.resume", ...fields }, "delivery has caught up with an owner's commits: its runs start again");
      parkOrUnpark(owner);
    },
  });
  const commits = largeCommitsInTurn(budget.counting(ports.histories), {
    now: () => performance.now(),
    after: (ms, action) => void setTimeout(action, ms),
  });
  const calls = withoutKillers(sandbox, ports.clock);
  const weights = new OwnerWeights(ports.weights, ports.clock);
  const limits = { ...(config.backlog ?? defaultBacklogLimits), totalBytes: backlogBytes };
  const backlog = new Backlog(limits, () => partitions.onBacklogChange());
  const queues = new SourceQueues({
    limits: config.limits ?? usualLimits,
    ownerOf: ({ invocation: { source, configure, dryRun } }) =>
      quotas.known(configure?.owner ?? deployments.ownerOf(dryRun?.source ?? source)),
    refuse: ({ answerTo }, owner) => {
      const [until, now] = [quotas.untilOf(owner), ports.clock.now()];
      if (answerTo !== undefined) ports.answer(answerTo, until > now ? refusal(until, now) : behindRefusal);
    },
    backlog,
    answer: (received) => {
      ports.metrics?.waited(Math.max(0, ports.clock.now() - received.storedAt));
      return settled(received, { deployments, histories, calls }, config, {
        ...ports,
        sandbox,
        histories: commits,
      });
    },
    runAhead: (received) => runAhead(received, deployments, config, { ...ports, sandbox }),
    weightOf: (owner) => weights.weightOf(owner),
    now: () => performance.now(),
  });
  const quotas = new OwnersOverQuota(ports.overQuota, ports.clock, (owner, untilMs) => {
    const fields = { "owner.id": owner, reason: "owner_quota" };
    if (untilMs === undefined) ports.log.info({ op: "owner.resume", ...fields }, "an owner is within quota again: what waited is run");
    else ports.log.warn({ op: "owner.park", ...fields, until: untilMs }, "an owner has used up the quota of the day: what comes waits");
    parkOrUnpark(owner);
  });
  const parkOrUnpark = (owner: string): void => {
    if (budget.isOver(owner) || quotas.untilOf(owner) > ports.clock.now()) queues.park(owner);
    else queues.unpark(owner);
  };
  ports.metrics?.counts(() => queues.counts());
  const open = new OpenMessages(config.pool);
  const partitions = new Partitions(config, {
    ...ports,
    backlog,
    onMessage: (message) => {
      for (const waiting of open.take(message)) queues.push(waiting);
    },
    release: async (partition) => {
      await queues.release(partition);
      open.sendAcks();
      // Another runner extends these histories now.
      for (const source of histories.keys()) if (partitionOf(source) === partition) histories.delete(source);
    },
  });
  await quotas.start();
  await weights.start();
  await deployments.start((source) => ports.sandbox.evict(source));
  await partitions.start();
  return {
    backlog: () => queues.size,
    stop: async (signal) => {
      await partitions.stop(signal);
      await quotas.stop();
      await weights.stop();
      await queues.stop(signal);
      budget.stop();
      open.sendAcks();
      await ports.sandbox.stop(signal);
    },
  };
}

/** What a runner knows of sources, and of what it was handed of them. */
interface Known {
  readonly deployments: DeploymentCache;
  readonly histories: LRUCache<string, History>;
  /** The sandbox for what is no run of a source. */
  readonly calls: Sandbox;
}

/** One invocation: load what it needs, answer it, and turn whatever went wrong into "try it again". */
async function settled(received: Received, known: Known, config: RunnerConfig, ports: RunnerPorts): Promise<Answer> {
  const { invocation } = received;
  const { deployments, histories, calls } = known;
  try {
    if (invocation.trigger === "configure") {
      await answerConfigure(invocation, config, { ...ports, sandbox: calls });
      return "done";
    }
    if (invocation.trigger === "dry-run") {
      await answerDryRun(received, deployments, config, { ...ports, sandbox: calls });
      return "done";
    }
    const deployment = await deployments.get(invocation.source, invocation.generation);
    if (deployment === undefined) return "done"; // The source was deleted.
    if (hasMoved(deployment)) {
      histories.delete(invocation.source);
      await ports.moves.move(received.position);
      return "done";
    }
    let history = histories.get(invocation.source);
    if (history === undefined) {
      history = new History(deployment.source, deployment.owner, ports.histories);
      await history.load();
    }
    await answerInvocation(received, history, deployment, config, ports);
    remember(history, histories);
    await armNextLink(received, deployment, ports);
    return "done";
  } catch (error) {
    histories.delete(invocation.source);
    const fields = { op: "source.run", "source.id": invocation.source, trigger: invocation.trigger, err: error };
    if (error instanceof Unavailable) ports.log.warn(fields, "an invocation cannot be answered now: trying again");
    else ports.log.error(fields, "an invocation cannot be answered because of an unexpected error: trying again");
    return "failed";
  }
}

/** As large as it is by now: of what is set again as it is, the cache would keep the size that it had. */
function remember(history: History, histories: Known["histories"]): void {
  histories.delete(history.source);
  histories.set(history.source, history);
}

/** Roughly what a history holds in memory: its texts, and a kilobyte for the rest. */
function sizeOf(history: History): number {
  const { db, dedupe, heard = [] } = history.state;
  let bytes = 1024 + heard.length * 32 + (dedupe.strategy === "unique" ? dedupe.ids.length * 32 : 0);
  for (const keys of Object.values(db)) for (const [key, text] of Object.entries(keys)) bytes += 2 * (key.length + text.length);
  return bytes;
}

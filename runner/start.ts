import { LRUCache } from "lru-cache";
import { defaultBacklogLimits } from "../domain/admission.ts";
import { hasMoved } from "../domain/deployment.ts";
import { Unavailable } from "../domain/errors.ts";
import { partitionOf } from "../domain/partition.ts";
import { withoutKillers } from "./call-kills.ts";
import { armNextLink } from "./chain.ts";
import { CommitBudget } from "./commit-budget.ts";
import { answerConfigure } from "./configure.ts";
import { DeploymentCache } from "./deployment-cache.ts";
import { answerDryRun } from "./dry-run.ts";
import { History } from "./history.ts";
import { Backlog } from "./intake/backlog.ts";
import { largeCommitsInTurn } from "./large-commits.ts";
import { OpenMessages } from "./open-messages.ts";
import { Partitions } from "./partitions.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import { Progresses } from "./progress.ts";
import { metered } from "./metered.ts";
import { behindRefusal, OwnersOverQuota, refusal } from "./over-quota.ts";
import { OwnerWeights } from "./owner-weights.ts";
import { queueLimits } from "./queue-limits.ts";
import { runAhead } from "./run-ahead.ts";
import { answerInvocation, type Received } from "./run.ts";
import type { Sandbox } from "./sandbox/port.ts";
import { SourceQueues } from "./source-queues.ts";
import type { Disposition } from "./waiting.ts";

const usualLimits = queueLimits({ children: 2, ownerRuns: 100 });
/** Of all invocations that wait in a runner. A pod of 3 GB holds them besides its isolates. */
const backlogBytes = 256 * 2 ** 20;

const ownerCommitBytes = 64 * 2 ** 20;

export interface Runner {
  /** Invocations waiting or running in this runner. */
  readonly backlog: () => number;
  /** Gives back what waits, lets runs end until the signal aborts. */
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
  const budget = new CommitBudget(ports.processed ?? { upTo: () => Promise.resolve(Number.POSITIVE_INFINITY) }, {
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
  const progresses = new Progresses(ports.intake, ports.clock);
  const weights = new OwnerWeights(ports.weights, ports.clock);
  const isOpen = (seq: number): boolean => open.isOpen(seq);
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
      return settled(received, { deployments, histories, progresses, calls, isOpen }, config, {
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
  const open = new OpenMessages((end, seq, sources) => {
    for (const source of sources) {
      const history = histories.peek(source);
      if (end === "ack") history?.settle(seq);
      else history?.expect(seq);
    }
  });
  const endReach = ports.intake.onReach((isReached) => {
    for (const history of histories.values()) {
      if (isReached) history.resume();
      else history.interrupt();
    }
  });
  const partitions = new Partitions(config, { ...ports, backlog }, (message) => {
    for (const waiting of open.take(message)) queues.push(waiting);
  });
  await quotas.start();
  await weights.start();
  await deployments.start((source) => ports.sandbox.evict(source));
  await partitions.start();
  return {
    backlog: () => queues.size,
    stop: async (signal) => {
      await partitions.stop();
      await quotas.stop();
      await weights.stop();
      await queues.stop(signal);
      budget.stop();
      open.stop();
      endReach();
      await ports.sandbox.stop(signal);
    },
  };
}

/** What a runner knows of sources, and of what it was handed of them. */
interface Known {
  readonly deployments: DeploymentCache;
  readonly histories: LRUCache<string, History>;
  readonly progresses: Progresses;
  /** The sandbox for what is no run of a source. */
  readonly calls: Sandbox;
  readonly isOpen: (seq: number) => boolean;
}

/** One invocation: load what it needs, answer it, and turn whatever went wrong into "deliver it again". */
async function settled(received: Received, known: Known, config: RunnerConfig, ports: RunnerPorts): Promise<Disposition> {
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
    const history = histories.get(invocation.source) ?? (await loadHistory(deployment.source, deployment.owner, known, ports));
    await answerInvocation(received, history, deployment, config, ports);
    remember(history, histories);
    await armNextLink(received, deployment, ports);
    return "done";
  } catch (error) {
    histories.delete(invocation.source);
    const fields = { op: "source.run", "source.id": invocation.source, trigger: invocation.trigger, err: error };
    if (error instanceof Unavailable) ports.log.warn(fields, "invocation is given back");
    else ports.log.error(fields, "invocation is given back after an unexpected error");
    return "later";
  }
}

/** It is known from the start: what becomes of messages while it is in use concerns it. */
async function loadHistory(source: string, owner: string, known: Known, ports: RunnerPorts): Promise<History> {
  const { histories, progresses, isOpen } = known;
  const history = new History(source, owner, {
    histories: ports.histories,
    clock: ports.clock,
    isOpen,
    progress: () => progresses.of(partitionOf(source)),
  });
  await history.load();
  histories.set(source, history);
  return history;
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

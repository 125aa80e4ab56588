import { LRUCache } from "lru-cache";
import { defaultBacklogLimits } from "../domain/limits/admission.ts";
import { partitionOf } from "../domain/invocation/partition.ts";
import { partitionCount } from "../domain/subjects.ts";
import { answer } from "./run/handle-invocation.ts";
import { withoutKillers } from "./run/kill-limit.ts";
import { CommitBudget } from "./commit/commit-budget.ts";
import { DeploymentCache } from "./run/deployment-cache.ts";
import type { History } from "./commit/source-commits.ts";
import { Backlog } from "./schedule/backlog.ts";
import { OpenMessages } from "./intake/open-messages.ts";
import { Partitions } from "./intake/partitions.ts";
import { withStandby } from "./intake/standby.ts";
import { largeCommitsInTurn } from "./commit/large-commits.ts";
import { metered } from "./run/metered-sandbox.ts";
import { behindRefusal, OwnersOverQuota, quotaRefusal } from "./schedule/quota-cache.ts";
import { OwnerValues } from "./schedule/owner-value-cache.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import { schedulerLimits } from "./schedule/scheduler.ts";
import { SourceQueues } from "./schedule/source-queues.ts";
import { runSpeculatively } from "./schedule/speculative-runs.ts";

const usualLimits = schedulerLimits(2, 100);
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
  const now = (): number => performance.now();
  const histories = new LRUCache<string, History>({ maxSize: config.historyBudgetBytes, sizeCalculation: sizeOf });
  const sandbox = metered(ports.sandbox, {
    cost: (owner, costMs) => queues.charge(owner, costMs),
    waitsForIo: (source) => queues.waitsForIo(source),
    ended: (outcome, durationMs) => ports.metrics?.ran(outcome, durationMs),
  });
  const budget = new CommitBudget(ports.processed ?? allProcessed, {
    ownerBytes: config.ownerCommitBytes ?? ownerCommitBytes,
    onChange: (owner, isOver) => {
      const fields = { "owner.id": owner, reason: "owner_commits" };
      if (isOver)
        ports.log.warn({ op: "owner.park", ...fields }, "delivery is behind with an owner's commits: no further run of the owner starts");
      else ports.log.info({ op: "owner.resume", ...fields }, "delivery has caught up with an owner's commits: its runs start again");
      blockOrUnblock(owner);
    },
  });
  const commits = largeCommitsInTurn(budget.counting(ports.histories), {
    now,
    after: (ms, action) => void setTimeout(action, ms),
  });
  const calls = withoutKillers(sandbox, ports.clock);
  const weights = new OwnerValues({
    read: async (owner) => {
      const weight = (await ports.weights?.weightOf(owner)) ?? 1;
      return weight > 0 ? weight : 1;
    },
    follow: async (changed) => (await ports.weights?.onChange(changed)) ?? { stop: () => Promise.resolve() },
    usual: 1,
    clock: ports.clock,
  });
  const backlog = new Backlog({ ...(config.backlog ?? defaultBacklogLimits), totalBytes: backlogBytes }, () =>
    partitions.onBacklogChange(),
  );
  const known = { deployments, histories, calls };
  const runPorts = { ...ports, sandbox, histories: commits };
  const queues = new SourceQueues({
    limits: config.limits ?? usualLimits,
    now,
    weightOf: (owner) => weights.get(owner),
    ownerOf: ({ invocation: { source, configure, dryRun } }) =>
      quotas.known(configure?.owner ?? deployments.ownerOf(dryRun?.source ?? source)),
    refuse: ({ answerTo }, owner) => {
      const until = quotas.untilOf(owner);
      const time = ports.clock.now();
      if (answerTo !== undefined) ports.answer(answerTo, until > time ? quotaRefusal(until, time) : behindRefusal);
    },
    backlog,
    answer: (received) => {
      ports.metrics?.waited(Math.max(0, ports.clock.now() - received.storedAt));
      return answer(received, known, config, runPorts);
    },
    runSpeculatively: (received) => runSpeculatively(received, deployments, config, { ...ports, sandbox }),
  });
  const quotas = new OwnersOverQuota(ports.overQuota, ports.clock, (owner, untilMs) => {
    const fields = { "owner.id": owner, reason: "owner_quota" };
    if (untilMs === undefined) ports.log.info({ op: "owner.resume", ...fields }, "an owner is within quota again: queued work runs");
    else ports.log.warn({ op: "owner.park", ...fields, until: untilMs }, "an owner has used up the quota of the day: its work is queued");
    blockOrUnblock(owner);
  });
  const blockOrUnblock = (owner: string): void => {
    if (budget.isOver(owner) || quotas.untilOf(owner) > ports.clock.now()) queues.block(owner);
    else queues.unblock(owner);
  };
  ports.metrics?.counts(() => queues.counts());
  const open = new OpenMessages(config.pool);
  const canRun = (): boolean => ports.sandbox.stats().startFailure === undefined;
  const partitions = new Partitions(config, {
    ...ports,
    membership: withStandby(ports.membership, canRun, now),
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

/** Roughly what a history holds in memory: its texts, and a kilobyte for the rest. */
function sizeOf(history: History): number {
  const { db, dedupe, heard = [] } = history.state;
  let bytes = 1024 + heard.length * 32 + (dedupe.strategy === "unique" ? dedupe.ids.length * 32 : 0);
  for (const keys of Object.values(db)) for (const [key, text] of Object.entries(keys)) bytes += 2 * (key.length + text.length);
  return bytes;
}

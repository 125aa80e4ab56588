import { defaultBacklogLimits } from "../domain/limits/admission.ts";
import { fenceDeleted } from "./commit/fenced-commits.ts";
import { limitLargeCommits } from "./commit/large-commits.ts";
import { SourceCommitsCache } from "./commit/source-commits.ts";
import { noRoomForState, StreamShares } from "./commit/stream-shares.ts";
import { OpenMessages } from "./intake/open-messages.ts";
import { Partitions } from "./intake/partitions.ts";
import { withStandby } from "./intake/standby.ts";
import type { RunnerConfig, RunnerPorts } from "./ports.ts";
import { DeploymentCache } from "./run/deployment-cache.ts";
import { handleInvocation, type RunContext } from "./handle-invocation.ts";
import { VariablesCache } from "./run/variables.ts";
import { notRun } from "./run/not-run.ts";
import { killsOfCalls, killsOfWorkflows, limitKills } from "./run/kill-limit.ts";
import { meterSandbox } from "./run/metered-sandbox.ts";
import { Backlog } from "./schedule/backlog.ts";
import { BlockedOwners } from "./schedule/blocked-owners.ts";
import { OwnerValueCache } from "./schedule/owner-value-cache.ts";
import { RunLimits } from "./schedule/run-limits.ts";
import { schedulerLimits } from "./schedule/scheduler.ts";
import type { InvocationRunner } from "./schedule/queue-options.ts";
import { SourceQueues } from "./schedule/source-queues.ts";
import { runSpeculatively } from "./schedule/speculative-runs.ts";
import { IsolateSlots } from "./workflow/isolate-slots.ts";
import { ResumeUrls } from "./workflow/resume-urls.ts";
import { ResumedRuns } from "./workflow/resumed-runs.ts";

const defaultLimits = schedulerLimits(2, 100);
/** Maximum bytes of all queued invocations. A pod of 3 GB has room for them beside its isolates. */
const maxBacklogBytes = 256 * 2 ** 20;
/** Callers wait at least this long for a run. Of an older invocation the caller may be gone, so it is kept as one without a caller. */
const callerWaitMs = 30_000;
const now = (): number => performance.now();

export interface Runner {
  /** Number of queued and running invocations. */
  readonly backlog: () => number;
  /** Releases queued invocations to other runners, and lets runs end until the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Parts that several others use. Each is created from the ports alone. */
interface Parts {
  readonly deployments: DeploymentCache;
  readonly variables: VariablesCache;
  readonly commits: SourceCommitsCache;
  readonly backlog: Backlog;
  readonly weights: OwnerValueCache<number>;
  readonly blockedOwners: BlockedOwners;
  readonly resumed: ResumedRuns;
}

/**
 * Starts the runner role. The way of an invocation through its parts:
 *
 *     Partitions ──▶ OpenMessages ──▶ SourceQueues ── Scheduler ──▶ handleInvocation ──▶ Sandbox ──▶ CommitStore
 *      which to read   pack ↔ acks     one per source, which is next    by trigger           run          one message
 */
export async function startRunner(config: RunnerConfig, ports: RunnerPorts): Promise<Runner> {
  const parts = createParts(config, ports);
  const queues = createQueues(config, ports, parts);
  const messages = new OpenMessages(config.pool);
  const partitions = new Partitions(config, {
    ...ports,
    membership: withStandby(ports.membership, () => ports.sandbox.stats().startFailure === undefined, now),
    backlog: parts.backlog,
    onMessage: (message) => {
      for (const queued of messages.take(message)) {
        parts.resumed.answerEarly(queued.received.invocation.resume, ports.answer);
        queues.push(queued);
      }
    },
    release: async (partition) => {
      await queues.release(partition);
      messages.sendAcks();
      parts.commits.deletePartition(partition);
    },
  });
  ports.metrics?.counts(() => queues.counts());
  queues.start(createInvocationRunner(config, ports, parts, queues));
  await parts.blockedOwners.start(queues);
  await parts.weights.start();
  await parts.deployments.start((source) => {
    if (source !== undefined) ports.sandbox.evict(source); // After missed changes, isolates are recognized by the deployment's id.
    queues.resume(source);
  });
  await parts.variables.start();
  await partitions.start();
  return {
    backlog: () => queues.size,
    stop: async (signal) => {
      await partitions.stop(signal);
      await parts.weights.stop();
      await queues.stop(signal);
      await parts.blockedOwners.stop();
      messages.sendAcks();
      await ports.sandbox.stop(signal);
    },
  };
}

function createParts(config: RunnerConfig, ports: RunnerPorts): Parts {
  return {
    deployments: new DeploymentCache(ports.deployments),
    variables: new VariablesCache(ports),
    commits: new SourceCommitsCache(config.stateCacheBytes),
    backlog: new Backlog({ ...(config.backlog ?? defaultBacklogLimits), totalBytes: maxBacklogBytes }),
    weights: new OwnerValueCache({
      read: async (owner) => {
        const weight = (await ports.weights?.weightOf(owner)) ?? 1;
        return weight > 0 ? weight : 1;
      },
      subscribe: async (changed) => (await ports.weights?.onChange(changed)) ?? { stop: () => Promise.resolve() },
      defaultValue: 1,
      clock: ports.clock,
    }),
    blockedOwners: new BlockedOwners(ports, config.maxOwnerCommitBytes),
    resumed: new ResumedRuns(),
  };
}

function createQueues(config: RunnerConfig, ports: RunnerPorts, { deployments, weights, blockedOwners, backlog }: Parts): SourceQueues {
  return new SourceQueues({
    limits: config.limits ?? defaultLimits,
    now,
    weightOf: (owner) => weights.get(owner),
    runLimits: new RunLimits(
      {
        find: (workflow) => deployments.cachedWorkflow(workflow),
        load: async (workflow) => {
          await deployments.workflow(workflow);
          return deployments.cachedWorkflow(workflow);
        },
      },
      now,
    ),
    ownerOf: ({ invocation: { source, configure, dryRun } }) =>
      blockedOwners.whenLoaded(configure?.owner ?? dryRun?.draft?.owner ?? deployments.ownerOf(dryRun?.source ?? source)),
    refuse: (invocation, owner, reason) => {
      const { answerTo } = invocation;
      if (answerTo !== undefined)
        ports.answer(answerTo, reason === "paused" ? notRun(invocation, "paused") : blockedOwners.refusalOf(owner));
    },
    hasCaller: ({ invocation: { trigger, answerTo }, storedAt }) =>
      (trigger === "http" || trigger === "manual") && answerTo !== undefined && ports.clock.now() - storedAt < callerWaitMs,
    reload: (source) => deployments.reload(source),
    backlog,
  });
}

/** Runs invocations in a metered sandbox, which reports costs to the queues, and commits them within the owners' budgets. */
function createInvocationRunner(config: RunnerConfig, ports: RunnerPorts, parts: Parts, queues: SourceQueues): InvocationRunner {
  const { clock, metrics } = ports;
  const slots = new IsolateSlots();
  const sandbox = meterSandbox(ports.sandbox, {
    onCost: (owner, costMs) => queues.charge(owner, costMs),
    onPause: (isolate) => {
      slots.pause(isolate);
      queues.waitsForIo(slots.queueOf(isolate));
    },
    onEnd: (outcome, durationMs) => metrics?.ran(outcome, durationMs),
  });
  const commits = limitLargeCommits(parts.blockedOwners.counting(fenceDeleted(ports.commits, parts.deployments)), {
    now,
    after: (ms, action) => void setTimeout(action, ms),
  });
  const shares = ports.states === undefined ? undefined : new StreamShares(ports.states, noRoomForState, now);
  const reserve = shares === undefined ? {} : { reserve: (owner: string, bytes: number) => shares.reserve(owner, bytes) };
  const runPorts = { ...ports, sandbox, commits: { ...commits, ...reserve } };
  const context: RunContext = {
    deployments: parts.deployments,
    commits: parts.commits,
    callSandbox: limitKills(sandbox, clock, killsOfCalls),
    workflows: {
      slots,
      places: queues.places,
      urls: new ResumeUrls(ports.secrets),
      resumed: parts.resumed,
      variables: parts.variables,
      sandbox: limitKills(sandbox, clock, killsOfWorkflows),
    },
  };
  return {
    handle: (received, owner) => {
      const { storedAt } = received;
      if (!parts.blockedOwners.hasHeldBack(owner, storedAt)) metrics?.waited(Math.max(0, clock.now() - storedAt));
      return handleInvocation(received, context, config, runPorts);
    },
    runSpeculatively: (received) => runSpeculatively(received, parts.deployments, config, runPorts),
  };
}

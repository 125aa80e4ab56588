import { z } from "zod";
import { Invariant } from "../../../domain/errors.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { DeploymentEntry } from "../../../domain/source/deployment.ts";
import type { WorkflowEntry } from "../../../domain/workflow/deployment.ts";
import type { VariablesEntry } from "../../../domain/variable/variable.ts";
import { buckets, deploymentKey } from "../../../domain/subjects.ts";
import { sendAnswer, sendPiece } from "../requests/run-answers.ts";
import { Bucket } from "../buckets/bucket.ts";
import { followChanges } from "../buckets/bucket-changes.ts";
import { appendCommit, appendFirstCommit, endDeletedHistory, endHistory, lastCommit } from "../runs/commits.ts";
import type { Connection } from "../connection/connection.ts";
import { readPartition } from "../read/partition-reader.ts";
import { readFloors } from "../runs/floors.ts";
import { heldByOthers, joinGroup, runnersOf, type Heartbeat } from "../members/group.ts";
import { deploymentEntries } from "./moves.ts";
import { readOverQuota, readWeights } from "../buckets/quotas.ts";
import { requestArm, requestCancel, requestConsumers, requestMove, requestWakeUp } from "./pool-requests.ts";
import { requestStreamUsage } from "../requests/stream-usage.ts";
import type { Timers } from "../../../runner/commit/ports.ts";
import type { Intake, Membership, RunnerReport } from "../../../runner/intake/ports.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";

type NatsPorts = Pick<
  RunnerPorts,
  | "deployments"
  | "variables"
  | "moves"
  | "commits"
  | "states"
  | "intake"
  | "membership"
  | "quotas"
  | "processed"
  | "weights"
  | "timers"
  | "wakeUps"
  | "answer"
  | "sendPiece"
>;

/** Shares that the runner uses with its child processes, 0 to 1; undefined: unknown. */
interface Load {
  memoryShare?(): Promise<number | undefined>;
  cpuShare?(): Promise<number | undefined>;
}

/** All that a runner does in NATS. Its account has permissions for this only, see `connection/permissions.ts`. */
export function createRunnerPorts(connection: Connection, pool: string, load: Load = {}): NatsPorts {
  return {
    deployments: deploymentsOf(connection, pool),
    variables: variablesOf(connection, pool),
    moves: { move: (position) => requestMove(connection, pool, position) },
    commits: {
      last: async (owner, source) => {
        const { text, sequence } = await lastCommit(connection, { owner, source, partition: partitionOf(source) });
        return { commit: text, sequence };
      },
      append: (owner, source, commit, expected, isFirst = false) => {
        const ref = { owner, source, partition: partitionOf(source) };
        return isFirst ? appendFirstCommit(connection, ref, commit) : appendCommit(connection, ref, commit, expected);
      },
      endDeleted: (owner, source) => endDeletedHistory(connection, { owner, source, partition: partitionOf(source) }),
      end: (owner, source, expected, marker) => endHistory(connection, { owner, source, partition: partitionOf(source) }, expected, marker),
    },
    states: { usage: (owner, moreBytes) => requestStreamUsage(connection, pool, "state", owner, moreBytes) },
    intake: intakeOf(connection, pool),
    membership: membershipOf(connection, pool, load),
    quotas: readOverQuota(connection),
    processed: {
      upTo: async () => {
        const { routed, recorded } = (await readFloors(connection)) ?? { routed: [], recorded: [] };
        return routed.map((sequence, partition) => Math.min(sequence, recorded[partition] ?? 0));
      },
    },
    weights: readWeights(connection),
    timers: timersOf(connection, pool),
    wakeUps: {
      schedule: (workflow, run, suspension, atMs) => requestWakeUp(connection, pool, { workflow, run, suspension, atMs }),
    },
    answer: (subject, answer) => sendAnswer(connection, subject, answer),
    sendPiece: (subject, piece, timeoutMs) => sendPiece(connection, subject, piece, timeoutMs),
  };
}

function deploymentsOf(connection: Connection, pool: string): RunnerPorts["deployments"] {
  const entries: Bucket<DeploymentEntry | WorkflowEntry> = deploymentEntries(connection);
  return {
    get: (name) => entries.get(deploymentKey(pool, name)),
    onChange: (changed) => followDeployments(connection, pool, changed),
  };
}

function variablesOf(connection: Connection, pool: string): Required<RunnerPorts>["variables"] {
  const entries = new Bucket<VariablesEntry>(connection, buckets.deployments, (json) => json as VariablesEntry); // Only the operator writes it.
  return {
    find: (owner) => entries.get(deploymentKey(pool, owner)),
    onChange: (changed) => followDeployments(connection, pool, changed),
  };
}

async function followDeployments(connection: Connection, pool: string, changed: (name: string | undefined) => void): Promise<void> {
  const prefix = deploymentKey(pool, "").length;
  await followChanges(connection, buckets.deployments, deploymentKey(pool, "*"), (key) => changed(key?.slice(prefix)));
}

function intakeOf(connection: Connection, pool: string): Intake {
  // All partitions notice a restart of NATS at once. One request creates all consumers.
  let restoring: Promise<void> | undefined;
  const restore = (): Promise<void> =>
    (restoring ??= requestConsumers(connection, pool).finally(() => {
      restoring = undefined;
    }));
  return {
    read: (partition, onMessage, hasRoom) =>
      readPartition({
        connection,
        pool,
        partition,
        canPull: hasRoom,
        restore,
        onMessage: (message, isNew) =>
          onMessage({
            text: message.text(),
            seq: message.seq,
            storedAt: message.storedAt,
            isNew,
            ack: () => message.ack(),
          }),
      }),
  };
}

async function heartbeat(report: () => RunnerReport, load: Load): Promise<Heartbeat> {
  const [memory, cpu] = await Promise.all([load.memoryShare?.(), load.cpuShare?.()]);
  return {
    ...(memory === undefined ? {} : { memoryShare: rounded(memory) }),
    ...(cpu === undefined ? {} : { cpuShare: rounded(cpu) }),
    ...report(),
  };
}

const rounded = (share: number): number => Math.round(share * 100) / 100;

function membershipOf(connection: Connection, pool: string, load: Load): Membership {
  const group = runnersOf(pool);
  return {
    heldByOthers: (runner) => heldByOthers(connection, group, runner),
    join: (runner, { onMembers, report }) => joinGroup(connection, group, runner, { onMembers, report: () => heartbeat(report, load) }),
  };
}

export function timersOf(connection: Connection, pool: string): Timers {
  return {
    armAt: (source, prop, atMs, invocation) => {
      const { trigger, chain, at } = invocation;
      if (trigger !== "timer" || chain === undefined || at === undefined)
        throw new Invariant(`source ${source} has no chained timer '${prop}'`);
      return requestArm(connection, pool, { source, prop, atMs, invocation: { ...linkOf(invocation), trigger, chain, at } });
    },
    cancel: (workflow, run, reason) => requestCancel(connection, pool, { workflow, run, reason }),
  };
}

/** The parts of a link that the request carries. Its event is JSON, because it came from the stream. */
const linkOf = ({ source, generation, event, dueAt, skippedTicks, lastRun, skips, backfill }: Invocation) => ({
  source,
  ...(generation === undefined ? {} : { generation }),
  ...(event === undefined ? {} : { event: z.json().parse(event) }),
  ...(dueAt === undefined ? {} : { dueAt }),
  ...(skippedTicks === undefined ? {} : { skippedTicks }),
  ...(lastRun === undefined ? {} : { lastRun }),
  ...(skips === undefined ? {} : { skips: [...skips] }),
  ...(backfill === undefined ? {} : { backfill }),
});

import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { systemClock } from "../../domain/clock.ts";
import { hasMoved } from "../../domain/source/deployment.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { podSettings, type PodSettings } from "../../operator/runner-pool/objects/pod-settings.ts";
import { poolLabel } from "../../operator/runner-pool/objects/names.ts";
import type { PoolConsumers, PoolCredentials } from "../../operator/runner-pool/ports.ts";
import type { RunnerPools } from "../../operator/runner-pool/start.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { createBacklogs } from "../../platform/jetstream/invocations/pool-backlogs.ts";
import { removePool, setUpPool } from "../../platform/jetstream/invocations/pool-consumers.ts";
import { followRunnerMemory } from "../../platform/jetstream/members/runner-memory.ts";
import type { Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { createWorkloads } from "../../platform/kubernetes/workloads.ts";
import { poolCredentials } from "../../platform/process/nats/nats-accounts.ts";
import { credentialsForPool, removePoolAccount } from "../../platform/process/nats/nats-claims.ts";
import { findNatsKeys, natsRootFile, type NatsKeys } from "../../platform/process/nats/nats-keys.ts";
import { undatedTokens } from "../../platform/process/nats/undated-tokens.ts";
import { measuredBacklogs } from "../../platform/telemetry/pool-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { derivePoolKeys, readMasterKeys } from "../../platform/secrets/pool-keys.ts";
import { masterFile } from "../../platform/secrets/secrets.ts";
import type { RoleContext } from "../context.ts";
import { asNatsSystem } from "../install/nats-system.ts";

export interface ScheduledPools {
  readonly pools: RunnerPools;
  stop(): Promise<void>;
}

/** What the operator makes runner pods with; undefined when it is told nothing of such pods: then somebody else runs the runners. */
export async function runnerPoolsOf(
  context: RoleContext,
  kubernetes: Kubernetes,
  connection: Connection,
): Promise<ScheduledPools | undefined> {
  const { configuration, logger } = context;
  if (configuration.runnerPodsFile === undefined) return undefined;
  const settings = await readSettings(configuration.runnerPodsFile);
  const directory = configuration.keysDirectory;
  const natsKeys = await findNatsKeys(directory);
  if (natsKeys === undefined) throw cannotSign(directory);
  const workloads = createWorkloads(kubernetes, {
    namespace: settings.namespace,
    selector: { "app.kubernetes.io/managed-by": "headwater-operator", "app.kubernetes.io/instance": settings.release },
    keyLabel: poolLabel,
    onError: (error) => logger.warn({ op: "workload.watch", err: error }, "a watch of runner pods is interrupted"),
  });
  await workloads.start();
  const memory = await followRunnerMemory(connection);
  return {
    pools: {
      settings,
      workloads,
      backlogs: measuredBacklogs(processMetrics(), createBacklogs(connection), () => systemClock.now()),
      memory,
      consumers: consumersOf(context, connection, natsKeys),
      credentials: credentialsOf(natsKeys),
      keys: { privateKeys: async (pool) => JSON.stringify(derivePoolKeys(await readMasterKeys(masterFile(directory)), pool)) },
    },
    stop: async () => {
      await workloads.stop();
      await memory.stop();
    },
  };
}

const cannotSign = (directory: string): InvalidInput =>
  new InvalidInput(
    `${natsRootFile(directory)} does not exist: with HEADWATER_RUNNER_PODS the operator gives each pool a NATS account of its own, ` +
      "signed with that key; have HEADWATER_KEYS name the directory where the Secret headwater-operator is mounted",
    { code: "nats_root_missing" },
  );

/** @throws InvalidInput that names the file and what is wrong in it */
async function readSettings(file: string): Promise<PodSettings> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new InvalidInput(`HEADWATER_RUNNER_PODS names the file '${file}', which cannot be read`, { cause });
  });
  const parsed = podSettings.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new InvalidInput(`the settings of runner pods in '${file}' are invalid: ${issues.join("; ")}`, { code: "invalid_configuration" });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function consumersOf(context: RoleContext, connection: Connection, keys: NatsKeys): PoolConsumers {
  const entries = deploymentEntries(connection);
  return {
    setUp: async (pool) => {
      await setUpPool(connection, { pool: pool.pool });
      await asNatsSystem(context, keys, (link) => credentialsForPool(link, keys, pool));
    },
    sources: async (pool) => [...(await entries.list(`${pool}.>`)).values()].filter((entry) => !hasMoved(entry)).length,
    remove: async (pool) => {
      await removePool(connection, pool);
      await asNatsSystem(context, keys, (link) => removePoolAccount(link, keys, pool));
    },
  };
}

/** What a credentials file says, but for when it was made, follows from the keys and the pool, and is its version. */
function credentialsOf(keys: NatsKeys): PoolCredentials {
  return {
    version: async (pool) => hash("sha256", undatedTokens(await poolCredentials(keys, pool))).slice(0, 32),
    forPool: (pool) => poolCredentials(keys, pool),
  };
}

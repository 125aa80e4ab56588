import { readFile } from "node:fs/promises";
import { systemClock } from "../../domain/clock.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { podSettings, type PodSettings } from "../../operator/runner-pool/objects/pod-settings.ts";
import { poolLabel } from "../../operator/runner-pool/objects/names.ts";
import type { RunnerPools } from "../../operator/runner-pool/start.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { createBacklogs } from "../../platform/jetstream/invocations/pool-backlogs.ts";
import { followRunnerLoad } from "../../platform/jetstream/members/runner-load.ts";
import type { Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { createReleaseOwner } from "../../platform/kubernetes/release-owner.ts";
import { createWorkloads } from "../../platform/kubernetes/workloads.ts";
import { findNatsKeys, natsRootFile } from "../../platform/process/nats/nats-keys.ts";
import { readCredentials } from "../../platform/process/nats/given-nats.ts";
import {
  createConsumersOnly,
  createGivenCredentials,
  createPoolConsumers,
  createPoolCredentials,
} from "../../platform/process/nats/runner-pools.ts";
import { measuredBacklogs } from "../../platform/telemetry/pool-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { derivePoolKeys, readMasterKeys } from "../../platform/secrets/pool-keys.ts";
import { masterFile } from "../../platform/secrets/secrets.ts";
import type { RoleContext } from "../context.ts";

/** What the operator needs to run pools of runner pods; undefined if they are run by something else. */
export async function openRunnerPools(
  context: RoleContext,
  { kubernetes, connection }: { readonly kubernetes: Kubernetes; readonly connection: Connection },
  opened: AsyncDisposableStack,
): Promise<RunnerPools | undefined> {
  const { configuration, logger } = context;
  if (configuration.runnerPodsFile === undefined) return undefined;
  const settings = await readSettings(configuration.runnerPodsFile, configuration.runTimeoutMs);
  const directory = configuration.keysDirectory;
  const users = await natsUsers(context, connection);
  const workloads = createWorkloads(kubernetes, {
    namespace: settings.namespace,
    selector: { "app.kubernetes.io/managed-by": "headwater-operator", "app.kubernetes.io/instance": settings.release },
    keyLabel: poolLabel,
    onError: (error) => logger.warn({ op: "workload.watch", err: error }, "a watch of runner pods is interrupted"),
  });
  await workloads.start();
  opened.defer(() => workloads.stop());
  const load = await followRunnerLoad(connection);
  opened.defer(() => load.stop());
  return {
    settings,
    release: createReleaseOwner(kubernetes, settings.namespace, settings.ownedBy),
    workloads,
    backlogs: measuredBacklogs(processMetrics(), createBacklogs(connection), () => systemClock.now()),
    load,
    ...users,
    keys: { privateKeys: async (pool) => JSON.stringify(derivePoolKeys(await readMasterKeys(masterFile(directory)), pool)) },
  };
}

/** What pools have in NATS: accounts that we sign, or in an account of yours the user of all roles. */
async function natsUsers(
  { configuration, nats }: RoleContext,
  connection: Connection,
): Promise<Pick<RunnerPools, "consumers" | "credentials">> {
  if (configuration.natsAccount === "own") {
    const keys = await findNatsKeys(configuration.keysDirectory);
    if (keys === undefined) throw cannotSign(configuration.keysDirectory);
    return { consumers: createPoolConsumers(connection, nats, keys), credentials: createPoolCredentials(keys) };
  }
  const file = configuration.natsCredentialsFile;
  if (file === undefined) throw noRunnerCredentials();
  return { consumers: createConsumersOnly(connection), credentials: createGivenCredentials(() => readCredentials(file)) };
}

const noRunnerCredentials = (): InvalidInput =>
  new InvalidInput("HEADWATER_NATS_CREDENTIALS is not set: the operator gives the runners' credentials to runner pods as a file", {
    code: "invalid_configuration",
  });

const cannotSign = (directory: string): InvalidInput =>
  new InvalidInput(
    `${natsRootFile(directory)} does not exist: with HEADWATER_RUNNER_PODS the operator gives each pool a NATS account of its own, ` +
      "signed with that key; have HEADWATER_KEYS name the directory where the Secret headwater-operator is mounted",
    { code: "nats_root_missing" },
  );

/** @throws InvalidInput that names the file and what is wrong in it */
async function readSettings(file: string, runTimeoutMs: number): Promise<PodSettings> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new InvalidInput(`HEADWATER_RUNNER_PODS names the file '${file}', which cannot be read`, { cause });
  });
  const parsed = podSettings.safeParse(withRunTimeout(jsonOf(text), runTimeoutMs));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new InvalidInput(`the settings of runner pods in '${file}' are invalid: ${issues.join("; ")}`, { code: "invalid_configuration" });
}

const withRunTimeout = (json: unknown, runTimeoutMs: number): unknown =>
  typeof json === "object" ? { ...json, runTimeoutSeconds: Math.ceil(runTimeoutMs / 1_000) } : json;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

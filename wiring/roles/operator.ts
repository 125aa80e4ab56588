import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { Unavailable } from "../../domain/errors.ts";
import { defaultPool, runnerKey } from "../../domain/subjects.ts";
import { startOperator, type OperatorRuntime } from "../../operator/start.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { liveRunners } from "../../platform/jetstream/members/group.ts";
import { serveConfigureRequests } from "../../platform/jetstream/requests/configure-requests.ts";
import { serveConnectRequests } from "../../platform/jetstream/requests/connect-requests.ts";
import { createStatusService, type OperatorStatus } from "../../platform/jetstream/requests/operator-status.ts";
import { startResealing } from "../../platform/secrets/background-reseal.ts";
import type { Configuration } from "../../platform/process/settings/configuration.ts";
import { readApps } from "../../platform/process/apps.ts";
import { readRegistry, registryDirectory } from "../../platform/process/registry.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { createOperatorMetrics } from "../../platform/telemetry/controller-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { openNats, startAnswers } from "../connections.ts";
import { disposeWith, type RoleContext, type StartedRole } from "../context.ts";
import { openDatabase } from "../database.ts";
import { openResources, type Resources } from "../resources.ts";
import { operatorInCluster } from "./operator-in-cluster.ts";
import { operatorPorts } from "./operator-ports.ts";
import { openRunnerPools } from "./runner-pools.ts";

/** A hook may take as long as a run, and its commit must be reported after that. */
const hookReportMs = 30_000;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const opened = new AsyncDisposableStack();
  const database = await openDatabase(context, opened);
  const connection = await openNats(context, opened);
  const answers = startAnswers(connection, opened);
  const secrets = await openSecrets(configuration);
  const resources = await openResources(context, { database, openSecrets: async () => secrets }, opened);
  // In a cluster resources refer to Secrets and hold no sealed values.
  if (resources.inCluster === undefined) disposeWith(opened, startResealing(database, secrets, context));
  const { events, runtime } = await openRuntime(context, { connection, resources }, opened);
  const leads = (): boolean => runtime.leadership?.leads ?? true;
  const { egressAllow, sharedAppsOwner } = configuration;
  const registry = await readRegistry(registryDirectory);
  const apps = { builtInApps: await readApps(), sharedAppsOwner };
  const ports = operatorPorts({ connection, database, answers, secrets, resources, log: logger, egressAllow, registry, leads, ...apps });
  const { ingressUrl, email } = configuration;
  const config = { ingressUrl, emailDomain: email?.domain, hookTimeoutMs: configuration.runTimeoutMs + hookReportMs };
  const operator = await startOperator(config, { ...ports, ...events }, runtime);
  const requests = await serveConfigureRequests(connection, (request) => operator.configure(request), operator);
  const connecting = await serveConnectRequests(connection, operator);
  return {
    checkReady: async () => {
      if (!operator.hasSynced) throw new Unavailable("the resources have not been listed yet");
    },
    stop: async () => {
      await requests.stop();
      await connecting.stop();
      await operator.stop();
      await opened.disposeAsync();
    },
  };
}

/** In a cluster the keys are a mounted Secret, and the keys of pools are derived from them. */
const openSecrets = ({ keysDirectory, resources }: Configuration): ReturnType<typeof createSecrets> =>
  createSecrets(keysDirectory, resources === "kubernetes" ? "derived" : "files");

interface RuntimeParts {
  readonly connection: Connection;
  readonly resources: Resources;
}

/** What else the operator does: in a cluster it elects a leader, mirrors resources, and may run pools of runner pods. */
async function openRuntime(context: RoleContext, { connection, resources }: RuntimeParts, opened: AsyncDisposableStack) {
  const cluster = resources.inCluster;
  const inCluster = cluster === undefined ? undefined : operatorInCluster(context, cluster);
  if (inCluster !== undefined) disposeWith(opened, inCluster.events);
  const runnerPools = cluster === undefined ? undefined : await openRunnerPools(context, { ...cluster, connection }, opened);
  const { controller, leads } = createOperatorMetrics(processMetrics());
  const reportStatus = createStatusService(
    connection,
    () => readStatus(connection, runnerPools === undefined ? undefined : resources.store),
    (error) => context.logger.warn({ op: "operator.status", err: error }, "requests for the operator's status get no reply"),
  );
  const runtime: OperatorRuntime = {
    ...inCluster?.runtime,
    ...(runnerPools === undefined ? {} : { runnerPools }),
    metrics: controller,
    onLead: (isLeading) => {
      leads(isLeading);
      reportStatus(isLeading);
    },
  };
  return { runtime, events: inCluster === undefined ? {} : { events: inCluster.events } };
}

/** @param store where the default pool is declared; undefined if this operator does not run its runners */
async function readStatus(connection: Connection, store: Resources["store"] | undefined): Promise<OperatorStatus> {
  const [runners, pool] = await Promise.all([
    liveRunners(connection).keys(runnerKey(defaultPool, "*")),
    store?.find(runnerPoolKind, "", defaultPool),
  ]);
  const minRunners = pool === undefined || pool.invalid !== undefined ? 1 : (pool.spec.replicas ?? pool.spec.minReplicas);
  return { runners: runners.length, mayScaleToZero: minRunners === 0 };
}

import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { Unavailable } from "../../domain/errors.ts";
import { defaultPool, runnerKey } from "../../domain/subjects.ts";
import { startOperator } from "../../operator/start.ts";
import { RunAnswers } from "../../platform/jetstream/requests/run-answers.ts";
import { serveConfigureRequests } from "../../platform/jetstream/requests/configure-requests.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import type { Stoppable } from "../../platform/jetstream/connection/link.ts";
import { liveRunners } from "../../platform/jetstream/members/group.ts";
import { serveOperatorStatus, type OperatorStatus } from "../../platform/jetstream/requests/operator-status.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { createOperatorMetrics } from "../../platform/telemetry/controller-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { natsOf } from "../connections.ts";
import { databaseOf } from "../database.ts";
import type { RoleContext, StartedRole } from "../context.ts";
import { operatorInCluster } from "./operator-in-cluster.ts";
import { operatorPorts } from "./operator-ports.ts";
import { startResealing } from "../../platform/postgres/resources/background-reseal.ts";
import { resourcesOf, type Resources } from "../resources.ts";
import { runnerPoolsOf } from "./runner-pools.ts";

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const nats = await natsOf(context);
  const postgres = await databaseOf(context);
  const { database } = postgres;
  const answers = new RunAnswers(nats.connection);
  answers.start();
  // In a cluster the keys are a mounted Secret, to which no pool's can be added.
  const secrets = await createSecrets(configuration.keysDirectory, configuration.resources === "kubernetes" ? "derived" : "files");
  const resources = await resourcesOf(context, { database, secrets });
  // In a cluster nothing lies sealed in resources.
  const resealing = resources.inCluster === undefined ? startResealing(database, secrets, context) : undefined;
  const { egressAllow } = configuration;
  const inCluster = resources.inCluster === undefined ? undefined : operatorInCluster(context, resources.inCluster);
  const leads = (): boolean => inCluster?.runtime.leadership?.leads ?? true;
  const ports = operatorPorts({ connection: nats.connection, database, answers, secrets, resources, log: logger, egressAllow, leads });
  // A hook may take as long as a run; then its commit has to be told.
  const config = { ingressUrl: configuration.ingressUrl, hookTimeoutMs: configuration.runTimeoutMs + 30_000 };
  const runners =
    resources.inCluster === undefined ? undefined : await runnerPoolsOf(context, resources.inCluster.kubernetes, nats.connection);
  const { controller, leads: countLeading } = createOperatorMetrics(processMetrics());
  let statusRequests: Promise<Stoppable> | undefined;
  const onLead = (isLeading: boolean): void => {
    countLeading(isLeading);
    const stopped = statusRequests?.then((reading) => reading.stop());
    const status = () => statusOf(nats.connection, runners === undefined ? undefined : resources.store);
    statusRequests = isLeading ? serveOperatorStatus(nats.connection, status) : undefined;
    for (const each of [stopped, statusRequests])
      each?.catch((error: unknown) => logger.warn({ op: "operator.status", err: error }, "readiness is not answered"));
  };
  const operator = await startOperator(config, inCluster === undefined ? ports : { ...ports, events: inCluster.events }, {
    ...inCluster?.runtime,
    ...(runners === undefined ? {} : { runnerPools: runners.pools }),
    metrics: controller,
    onLead,
  });
  const requests = await serveConfigureRequests(nats.connection, (request) => operator.configure(request));
  return {
    checkReady: async () => {
      if (!operator.hasSynced) throw new Unavailable("the resources have not been listed yet");
    },
    stop: async () => {
      await requests.stop();
      await operator.stop();
      await resealing?.stop();
      await runners?.stop();
      await inCluster?.events.stop();
      answers.stop();
      await resources.release();
      await nats.release();
      await postgres.release();
    },
  };
}

/** @param store where the default pool is described; undefined when its runners are started elsewhere */
async function statusOf(connection: Connection, store: Resources["store"] | undefined): Promise<OperatorStatus> {
  const [runners, pool] = await Promise.all([
    liveRunners(connection).keys(runnerKey(defaultPool, "*")),
    store?.find(runnerPoolKind, "", defaultPool),
  ]);
  const fewest = pool === undefined || pool.invalid !== undefined ? 1 : (pool.spec.replicas ?? pool.spec.minReplicas);
  return { runners: runners.length, mayScaleToZero: fewest === 0 };
}

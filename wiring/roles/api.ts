import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";
import { defaultApiConfig } from "../../api/config.ts";
import { startApi } from "../../api/start.ts";
import { systemClock } from "../../domain/clock.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { Readiness } from "../../api/http/telemetry/readiness.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { RunAnswers } from "../../platform/jetstream/requests/run-answers.ts";
import { requestBuild, requestComponent } from "../../platform/jetstream/requests/build-requests.ts";
import { requestConfigure } from "../../platform/jetstream/requests/configure-requests.ts";
import { publishReplay } from "../../platform/jetstream/deliveries/replays.ts";
import { followEmitted } from "../../platform/jetstream/runs/emitted-events.ts";
import { readRunMessages } from "../../platform/jetstream/runs/live-runs.ts";
import { createSourceBacklogs } from "../../platform/jetstream/invocations/source-backlogs.ts";
import { readWebhookBacklog } from "../../platform/jetstream/deliveries/webhook-backlog.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { createActivity } from "../../platform/postgres/history/activity.ts";
import { createComponentLibrary } from "../../platform/postgres/component-library.ts";
import { createDeliveryRecords } from "../../platform/postgres/history/deliveries.ts";
import { createHistory } from "../../platform/postgres/history/index.ts";
import { readRegistry } from "../../platform/process/registry.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { readAdminToken } from "../../platform/secrets/admin-token.ts";
import { runsOf } from "../../platform/jetstream/invocations/manual-runs.ts";
import { natsOf } from "../connections.ts";
import { databaseOf } from "../database.ts";
import type { RoleContext, StartedRole } from "../context.ts";
import { seedFirstUser } from "../install/first-user.ts";
import { readinessOf, untilReady } from "../../platform/telemetry/readiness.ts";
import { redeliveriesOf } from "../redeliveries.ts";
import { resourcesOf } from "../resources.ts";

/** Our own components, beside the source. */
const registryDirectory = join(import.meta.dirname, "..", "..", "registry");

/** Of all request bodies that are arriving. */
const arrivingBytes = 32 * 2 ** 20;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const nats = await natsOf(context);
  const postgres = await databaseOf(context);
  const { connection } = nats;
  const { database } = postgres;
  const accounts = createAccounts(database);
  const resources = await resourcesOf(context, { database, secrets: await createSecrets(configuration.keysDirectory) });
  // In a cluster setup has done so.
  const keyFile = resources.inCluster ? undefined : await seedFirstUser(accounts, configuration.owner, context.dataDirectory);
  const adminToken = await readAdminToken(configuration.adminTokenFile);
  const history = createHistory(database, { kept: { events: configuration.keepEvents, logs: configuration.keepLogs } });
  const stopping = new AbortController();
  const answers = new RunAnswers(connection);
  answers.start();
  const admission = await followAdmission(connection, configuration.backlog);
  const readiness = new Readiness(readinessOf(connection, database), logger);
  const api = await startApi(
    {
      ...defaultApiConfig,
      listen: configuration.listen,
      trustedProxies: configuration.trustedProxies,
      maxConnections: configuration.maxConnections,
      streamsPerKey: configuration.streamsPerKey,
      servesMetrics: configuration.healthListen === undefined,
      ...(adminToken === undefined ? {} : { adminToken }),
    },
    {
      store: resources.shownStore,
      owners: resources.owners,
      secretValues: resources.secretValues,
      pages: resources.pages,
      library: createComponentLibrary(database),
      published: await readRegistry(registryDirectory),
      accounts,
      history,
      activity: createActivity(database),
      sourceBacklogs: createSourceBacklogs(connection),
      builds: { build: (component, owner) => requestBuild(connection.nats, { ...component, owner }) },
      runs: runsOf(connection, answers, admission.gate),
      deliveries: createDeliveryRecords(database),
      redeliveries: redeliveriesOf(connection),
      backlogs: { read: (webhook) => readWebhookBacklog(connection, webhook) },
      streams: {
        runs: readRunMessages(connection, (stream) => history.readPositions(stream)),
        followEmitted: (onEvent) => followEmitted(connection, onEvent),
        stopping: stopping.signal,
      },
      configurations: { configure: (request) => requestConfigure(connection.nats, request) },
      replays: { publish: (events) => publishReplay(connection, events) },
      fetchComponent: (url, owner) => requestComponent(connection.nats, url, { owner }),
      clock: systemClock,
      randomBytes,
      createServer: createBoundedServer,
      bodies: new RequestBodies(arrivingBytes),
      log: logger,
      traces: context.traces,
      readiness,
    },
    processMetrics(),
  );
  return {
    lines: keyFile === undefined ? [] : welcome(configuration.publicUrl, keyFile),
    untilUsable: () => untilReady(readiness, logger),
    stop: async (signal) => {
      stopping.abort();
      await api.stop(signal);
      await admission.stop();
      answers.stop();
      await resources.release();
      await nats.release();
      await postgres.release();
    },
  };
}

function welcome(url: string, keyFile: string): readonly string[] {
  const file = relative(process.cwd(), keyFile);
  const path = file.startsWith("..") ? keyFile : file;
  return [
    `Headwater is ready. API: ${url}/v1`,
    `Your API key is in ${keyFile}. Try:`,
    `  curl -H "Authorization: Bearer $(cat ${path})" ${url}/v1/users/me`,
  ];
}

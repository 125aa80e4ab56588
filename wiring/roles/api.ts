import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { defaultApiConfig, type ApiConfig } from "../../api/config.ts";
import type { Sessions } from "../../api/http/ports.ts";
import type { ApiPorts } from "../../api/ports.ts";
import { startApi } from "../../api/start.ts";
import { systemClock } from "../../domain/clock.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { Readiness } from "../../api/http/telemetry/readiness.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { requestBuild, requestComponent, requestListing } from "../../platform/jetstream/requests/build-requests.ts";
import { requestExchange, requestRevocation } from "../../platform/jetstream/requests/connect-requests.ts";
import { requestConfigure, requestDraft, requestSourceDraft } from "../../platform/jetstream/requests/configure-requests.ts";
import { readLag } from "../../platform/jetstream/deliveries/lag.ts";
import { publishReplay } from "../../platform/jetstream/deliveries/replays.ts";
import { followEmitted } from "../../platform/jetstream/runs/emitted-events.ts";
import { createInstallation } from "../../platform/jetstream/members/installation.ts";
import { readRunMessages } from "../../platform/jetstream/runs/live-runs.ts";
import { createSourceBacklogs } from "../../platform/jetstream/invocations/source-backlogs.ts";
import { openBlobStore } from "../../platform/jetstream/bundles/object-store.ts";
import { readWebhookBacklog } from "../../platform/jetstream/deliveries/webhook-backlog.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { createSessions } from "../../platform/postgres/accounts/sessions.ts";
import { createAuditLog } from "../../platform/postgres/audit/audit-log.ts";
import { createActivity } from "../../platform/postgres/history/activity.ts";
import { createStoredUse } from "../../platform/postgres/resources/stored-use.ts";
import { createConnections } from "../../platform/postgres/connections/connections.ts";
import { createComponentLibrary } from "../../platform/postgres/component-library.ts";
import { createDataStores } from "../../platform/postgres/data-stores/data-stores.ts";
import { createRegisteredStores } from "../../platform/postgres/data-stores/registered-stores.ts";
import { createPublications } from "../../platform/postgres/publications/publications.ts";
import { createDeliveryRecords } from "../../platform/postgres/history/deliveries.ts";
import { createOutcomes } from "../../platform/postgres/history/outcomes.ts";
import { createTraceRecords } from "../../platform/postgres/history/traces/traces.ts";
import { createSearchRecords } from "../../platform/postgres/search/search.ts";
import { createHistory } from "../../platform/postgres/history/index.ts";
import { createMeasures } from "../../platform/postgres/measures/read.ts";
import { createDiskSamples } from "../../platform/postgres/storage/disk-samples.ts";
import { freeBytesIn } from "../../platform/process/nats/store-size.ts";
import { readConnectors } from "../../platform/process/connectors.ts";
import { readApps } from "../../platform/process/apps.ts";
import { readRegistry, registryDirectory } from "../../platform/process/registry.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { readAdminToken } from "../../platform/secrets/admin-token.ts";
import { createManualRuns } from "../../platform/jetstream/invocations/manual-runs.ts";
import { openNats, startAnswers } from "../connections.ts";
import { boundedServers } from "../http-servers.ts";
import { openDatabase } from "../database.ts";
import { dueConsumer } from "./delivery-ports.ts";
import { disposeWith, type RoleContext, type StartedRole } from "../context.ts";
import { seedFirstUser, signInLink, type FirstUser } from "../install/first-user.ts";
import { readinessChecks, waitUntilReady } from "../../platform/telemetry/readiness.ts";
import { createRedeliveries } from "../../platform/jetstream/deliveries/due-deliveries.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import type { Configuration } from "../../platform/process/settings/configuration.ts";
import { openResources, type Resources } from "../resources.ts";

/** Shorter than a build may take, since proxies in front of the API give up after 60 s. A repeated request finds what was cached. */
const buildTimeoutMs = 50_000;
/** Bound on bytes of request bodies that are being received. */
const maxArrivingBytes = 32 * 2 ** 20;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const opened = new AsyncDisposableStack();
  const database = await openDatabase(context, opened);
  const connection = await openNats(context, opened);
  const openSecrets = () => createSecrets(configuration.keysDirectory);
  const resources = await openResources(context, { database, openSecrets }, opened);
  const accounts = createAccounts(database);
  const sessions = createSessions(database.db);
  // In a cluster setup has created the first user.
  const firstUser = resources.inCluster ? undefined : await seedFirstUser(accounts, configuration.owner, context.dataDirectory);
  const records = recordPorts(configuration, database);
  const stopping = new AbortController();
  const readiness = new Readiness(readinessChecks(connection, database), logger);
  const api = await startApi(
    await apiConfig(configuration),
    {
      ...resourcePorts(resources),
      ...records,
      ...(await requestPorts(context, connection, opened)),
      accounts,
      sessions,
      auditLog: createAuditLog(database),
      streams: {
        runs: readRunMessages(connection, (stream) => records.history.readPositions(stream)),
        followEmitted: (onEvent) => followEmitted(connection, onEvent),
        stopping: stopping.signal,
      },
      published: await readRegistry(registryDirectory),
      connectors: onDemand(readConnectors),
      builtInApps: await readApps(),
      clock: systemClock,
      randomBytes,
      ...(configuration.databaseUrl === undefined ? { freeDiskBytes: () => freeBytesIn(configuration.dataDirectory) } : {}),
      createServer: boundedServers(context),
      bodies: new RequestBodies(maxArrivingBytes),
      log: logger,
      traces: context.traces,
      readiness,
    },
    processMetrics(),
  );
  // The command line on this machine reads both files.
  if (firstUser !== undefined) await writeFile(join(context.dataDirectory, "api-url"), `${configuration.publicUrl}\n`);
  return {
    lines: firstUser === undefined ? [] : await welcome(configuration.publicUrl, firstUser, sessions),
    untilUsable: () => waitUntilReady(readiness, logger),
    stop: async (signal) => {
      stopping.abort();
      await api.stop(signal);
      await opened.disposeAsync();
    },
  };
}

async function apiConfig(configuration: Configuration): Promise<ApiConfig> {
  const adminToken = await readAdminToken(configuration.adminTokenFile);
  return {
    ...defaultApiConfig,
    listen: configuration.listen,
    publicUrl: configuration.publicUrl,
    trustedProxies: configuration.trustedProxies,
    maxConnections: configuration.maxConnections,
    streamsPerUser: configuration.streamsPerUser,
    storage: configuration.ownerStorage,
    keptMeasures: configuration.keptMeasures,
    servesMetrics: configuration.healthListen === undefined,
    ...(configuration.sharedAppsOwner === undefined ? {} : { sharedAppsOwner: configuration.sharedAppsOwner }),
    ...(adminToken === undefined ? {} : { adminToken }),
    ...(adminToken === undefined || configuration.adminListen === undefined ? {} : { adminListen: configuration.adminListen }),
  };
}

/** Desired state. */
const resourcePorts = ({ listedStore, owners, namespaces, secretValues, pages }: Resources) => ({
  store: listedStore,
  owners,
  ...(namespaces === undefined ? {} : { namespaces }),
  secretValues,
  pages,
});

/** Tables that the API reads and writes. */
const recordPorts = ({ keepEvents, keepLogs }: Configuration, database: Database) => ({
  library: createComponentLibrary(database),
  publications: createPublications(database),
  dataStores: { ...createDataStores(database, systemClock), ...createRegisteredStores(database) },
  connections: createConnections(database),
  history: createHistory(database, { kept: { events: keepEvents, logs: keepLogs } }),
  traceRecords: createTraceRecords(database),
  search: createSearchRecords(database),
  activity: createActivity(database),
  storedUse: createStoredUse(database),
  outcomes: createOutcomes(database),
  measures: createMeasures(database),
  diskSamples: createDiskSamples(database),
  deliveries: createDeliveryRecords(database),
});

/** What the API reads in NATS, and requests of other roles. */
async function requestPorts({ configuration, logger }: RoleContext, connection: Connection, opened: AsyncDisposableStack) {
  const { nats } = connection;
  const answers = startAnswers(connection, opened);
  const admission = disposeWith(opened, await followAdmission(connection, configuration.backlog));
  const blobs = openBlobStore(connection);
  const runs = createManualRuns(connection, answers, admission.gate);
  return {
    sourceBacklogs: createSourceBacklogs(connection),
    installation: createInstallation(
      connection,
      () => readLag(connection, dueConsumer),
      (error) => logger.warn({ op: "lag.read", err: error }, "how far delivery is behind cannot be read"),
    ),
    backlogs: { read: (webhook) => readWebhookBacklog(connection, webhook) },
    runs,
    redeliveries: createRedeliveries(connection),
    replays: { publish: (events) => publishReplay(connection, events) },
    builds: { build: (component, owner) => requestBuild(nats, { ...component, owner }, { timeoutMs: buildTimeoutMs }) },
    bundles: { get: (name) => blobs.get(name) },
    connector: {
      exchange: (exchange) => requestExchange(nats, exchange),
      revoke: (account) => requestRevocation(nats, account),
    },
    configurations: { configure: (request) => requestConfigure(nats, request) },
    workflowTests: { seal: (request) => requestDraft(nats, request), request: runs.testWorkflow },
    sourceTests: { seal: (request) => requestSourceDraft(nats, request) },
    fetchComponent: (url, owner) => requestComponent(nats, url, { owner, timeoutMs: buildTimeoutMs }),
    listPackage: (wanted, owner) => requestListing(nats, wanted, { owner, timeoutMs: buildTimeoutMs }),
  } satisfies Partial<ApiPorts>;
}

async function welcome(url: string, { keyFile, keyHash }: FirstUser, sessions: Sessions): Promise<readonly string[]> {
  const file = relative(process.cwd(), keyFile);
  const path = file.startsWith("..") ? keyFile : file;
  return [
    `Headwater is ready. API: ${url}/v1`,
    await consoleLine(url, keyHash, sessions),
    `Your API key is in ${keyFile}. Try:`,
    `  curl -H "Authorization: Bearer $(cat ${path})" ${url}/v1/users/me`,
  ];
}

/** The link is a credential: only a terminal gets it, never the log of a supervisor or container. */
async function consoleLine(url: string, keyHash: string, sessions: Sessions): Promise<string> {
  return process.stdout.isTTY
    ? `Console, once within 15 minutes: ${await signInLink(sessions, keyHash, url)}`
    : `Console: ${url}; sign in with the API key`;
}

/** What is read when it is needed first, and then kept. */
function onDemand<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

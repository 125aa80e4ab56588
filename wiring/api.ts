import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";
import { defaultApiConfig } from "../api/config.ts";
import { startApi } from "../api/start.ts";
import { systemClock } from "../domain/clock.ts";
import { Unavailable } from "../domain/errors.ts";
import { drainable } from "../platform/http/drainable.ts";
import { Asker } from "../platform/jetstream/answers.ts";
import { requestBuild, requestComponent } from "../platform/jetstream/build-requests.ts";
import { requestConfigure } from "../platform/jetstream/configure-requests.ts";
import { publishReplay } from "../platform/jetstream/replays.ts";
import { readRunMessages } from "../platform/jetstream/run-messages.ts";
import { readWebhookBacklog } from "../platform/jetstream/webhook-backlog.ts";
import { createAccounts } from "../platform/postgres/accounts.ts";
import { createComponentLibrary } from "../platform/postgres/component-library.ts";
import { createDeliveryRecords } from "../platform/postgres/deliveries.ts";
import { createHistory } from "../platform/postgres/history.ts";
import { readRegistry } from "../platform/process/registry.ts";
import { createSecrets } from "../platform/secrets/secrets.ts";
import { processMetrics } from "../platform/telemetry/metrics.ts";
import { readAdminToken } from "./admin-token.ts";
import { runsOf } from "./api-runs.ts";
import { natsOf } from "./connections.ts";
import { databaseOf } from "./database.ts";
import type { RoleContext, StartedRole } from "./context.ts";
import { seedFirstUser } from "./first-user.ts";
import { redeliveriesOf } from "./redeliveries.ts";
import { resourcesOf } from "./resources.ts";

/** Our own components, beside the source. */
const registryDirectory = join(import.meta.dirname, "..", "registry");

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
  const asker = new Asker(connection);
  asker.start();
  const api = await startApi(
    {
      ...defaultApiConfig,
      listen: configuration.listen,
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
      builds: { build: (component, owner) => requestBuild(connection.nats, { ...component, owner }) },
      runs: runsOf(connection, asker),
      deliveries: createDeliveryRecords(database),
      redeliveries: redeliveriesOf(connection),
      backlogs: { read: (webhook) => readWebhookBacklog(connection, webhook) },
      streams: { runs: readRunMessages(connection, (stream) => history.readPosition(stream)), stopping: stopping.signal },
      configurations: { configure: (request) => requestConfigure(connection.nats, request) },
      replays: { publish: (events) => publishReplay(connection, events) },
      fetchComponent: (url) => requestComponent(connection.nats, url),
      clock: systemClock,
      randomBytes,
      drainable,
      log: logger,
      traces: context.traces,
      checkReady: async () => {
        if (connection.status() !== "connected") throw new Unavailable("the message server cannot be reached");
        await accounts.findUser(configuration.owner.id); // Whether there is one or not: Postgres answered.
      },
    },
    processMetrics(),
  );
  return {
    lines: keyFile === undefined ? [] : welcome(configuration.publicUrl, keyFile),
    stop: async (signal) => {
      stopping.abort();
      await api.stop(signal);
      asker.stop();
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

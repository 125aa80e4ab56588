import type { DeliveryConfig } from "../../delivery/ports.ts";
import { startFilling, startUpkeep, type Upkeep } from "../../delivery/record/upkeep.ts";
import { systemClock } from "../../domain/clock.ts";
import { startDelivery } from "../../delivery/start.ts";
import { nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createS3Objects } from "../../platform/http/s3-objects.ts";
import { createWebhookClient } from "../../platform/http/webhook-client.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { deliveryBacklog } from "../../platform/jetstream/deliveries/delivery-backlog.ts";
import { startRecoveringStranded } from "../../platform/jetstream/deliveries/stranded-deliveries.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { serveDataStores } from "../../platform/jetstream/requests/data-store-requests.ts";
import { listStreams } from "../../platform/jetstream/members/installation.ts";
import { servePoolRequests } from "../../platform/jetstream/invocations/pool-requests.ts";
import { recordedRuns } from "../../platform/jetstream/streams/stream-identity.ts";
import { streamUsage } from "../../platform/jetstream/streams/stream-limits.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import { createDataStores } from "../../platform/postgres/data-stores/data-stores.ts";
import { sweepDataStores } from "../../platform/postgres/data-stores/registered-stores.ts";
import { createDeliveryHistory } from "../../platform/postgres/history/delivery-history.ts";
import { createHistory, type History } from "../../platform/postgres/history/index.ts";
import { keepDiskSamples } from "../../platform/postgres/storage/disk-samples.ts";
import type { Configuration } from "../../platform/process/settings/configuration.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { createDeliveryMetrics } from "../../platform/telemetry/delivery-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { openNats } from "../connections.ts";
import { disposeWith, type RoleContext, type StartedRole } from "../context.ts";
import { openDatabaseAtOnce } from "../database.ts";
import { privateAuthorities } from "../private-authorities.ts";
import { openMails } from "./delivery-mails.ts";
import { deliveryPorts, dueConsumer, type DeliveryParts } from "./delivery-ports.ts";

const attemptTimeoutMs = 15_000;
const attemptsPerWebhook = 16;
/** Webhooks of one origin share its connections. A hanging webhook uses one for each attempt: this many may hang before others wait. */
const connectionsPerOrigin = 32 * attemptsPerWebhook;

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const opened = new AsyncDisposableStack();
  const database = await openDatabaseAtOnce(context, opened);
  const connection = await openNats(context, opened);
  disposeWith(opened, await servePoolRequests(connection));
  disposeWith(opened, await serveDataStores(connection, createDataStores(database, systemClock), () => performance.now()));
  disposeWith(opened, startRecoveringStranded(connection, dueConsumer, logger));
  const history = createHistory(database, { keptMeasures: configuration.keptMeasures });
  disposeWith(opened, startUpkeep(upkeepOf(history, { database, connection, logger }), logger));
  disposeWith(
    opened,
    startFilling(() => history.fillSearchColumns(), logger),
  );
  const metrics = deliveryMetrics(connection);
  const parts = await openParts(context, { connection, database }, opened);
  const delivery = await startDelivery(deliveryConfig(configuration), deliveryPorts({ ...parts, metrics }));
  return {
    stop: async () => {
      await delivery.stop();
      await opened.disposeAsync();
    },
  };
}

interface UpkeepParts extends Pick<RoleContext, "logger"> {
  readonly database: Database;
  readonly connection: Connection;
}

/** Of the history, of data stores, and of the samples from which the API forecasts the use of disks. */
function upkeepOf(history: History, { database, connection, logger }: UpkeepParts): Upkeep {
  return {
    ...history,
    sweep: async () => {
      // First, and whatever becomes of it: the sweep may fail where storage is in trouble, and a missing sample must not repeat it.
      await listStreams(connection)
        .then((streams) => keepDiskSamples(database, streams))
        .catch((error: unknown) => logger.warn({ op: "storage.sample", err: error }, "the use of disks is not sampled"));
      await history.sweep();
    },
    continueDeletions: async () => {
      const [ofHistory, ofStores] = await Promise.all([history.continueDeletions(), sweepDataStores(database, systemClock)]);
      return ofHistory || ofStores;
    },
  };
}

async function openParts(
  context: RoleContext,
  { connection, database }: { readonly connection: Connection; readonly database: Database },
  opened: AsyncDisposableStack,
): Promise<DeliveryParts> {
  const { configuration, logger, traces } = context;
  const poster = createWebhookClient({
    egress: createEgress({ allow: configuration.egressAllow }),
    timeoutMs: attemptTimeoutMs,
    connections: connectionsPerOrigin,
    proxy: configuration.deliveryProxy,
    trusted: privateAuthorities("HEADWATER_WEBHOOK_CA", configuration, logger),
  });
  opened.defer(() => poster.close());
  const admission = disposeWith(opened, await followAdmission(connection, configuration.backlog));
  const history = createDeliveryHistory(database, {
    ...(await recordedRuns(connection)),
    kept: { events: configuration.keepEvents, logs: configuration.keepLogs },
    mailsErrors: configuration.smtp !== undefined,
  });
  const secrets = await createSecrets(configuration.keysDirectory);
  const sends = { ...openMails(context, database, opened), ...openObjects(context, opened) };
  return { connection, history, poster, ...sends, admission: admission.gate, secrets, log: logger, traces };
}

/** The store of `$.send.s3`. The operator of the installation has chosen it, so it may have a private address. */
function openObjects({ configuration, logger }: RoleContext, opened: AsyncDisposableStack): Pick<DeliveryParts, "objects"> {
  const { s3 } = configuration;
  if (s3 === undefined) return {};
  const egress = createEgress({ allow: ["0.0.0.0/0", "::/0"] });
  const trusted = privateAuthorities("HEADWATER_S3_CA", configuration, logger);
  const client = createWebhookClient({ egress, timeoutMs: attemptTimeoutMs, connections: attemptsPerWebhook, trusted });
  opened.defer(() => client.close());
  return { objects: createS3Objects(s3, client) };
}

const deliveryMetrics = (connection: Connection) =>
  createDeliveryMetrics(
    processMetrics(),
    () => deliveryBacklog(connection, dueConsumer),
    () => streamUsage(connection),
  );

function deliveryConfig({ deliveryRetryMs, webhookDisableAfterMs }: Configuration): DeliveryConfig {
  return {
    deliveryDeadlineMs: 1_000,
    attemptsPerWebhook,
    maxDirectListeners: 16,
    attemptTimeoutMs,
    ...(webhookDisableAfterMs === undefined ? {} : { disableAfterMs: webhookDisableAfterMs }),
    nextAttempt: deliveryRetryMs === undefined ? nextAttempt : scheduleOf(deliveryRetryMs),
  };
}

/** A schedule of fixed waits, which a response's `Retry-After` can only extend. */
const scheduleOf =
  (waitsMs: readonly number[]): DeliveryConfig["nextAttempt"] =>
  (attempt, _random, retryAfterMs = 0) => {
    const waitMs = waitsMs[attempt - 1];
    return waitMs === undefined ? undefined : Math.max(waitMs, retryAfterMs);
  };

import { randomBytes } from "node:crypto";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { systemClock } from "../../domain/clock.ts";
import { nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { buckets, defaultPool, deliverSubject, invokeSubject, retrySubject, streams, workflowSubject } from "../../domain/subjects.ts";
import type { Route } from "../../domain/source/deployment.ts";
import type { Deliveries } from "../../delivery/attempts/ports.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../delivery/ports.ts";
import type { History } from "../../delivery/record/ports.ts";
import type { Reading } from "../../delivery/routing/ports.ts";
import { startDelivery, type StartedDelivery } from "../../delivery/start.ts";
import { startUpkeep } from "../../delivery/record/upkeep.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createWebhookClient } from "../../platform/http/webhook-client.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { deliveryBacklog } from "../../platform/jetstream/deliveries/delivery-backlog.ts";
import { announceEmitted } from "../../platform/jetstream/runs/emitted-events.ts";
import { startRecoveringStranded } from "../../platform/jetstream/deliveries/stranded-deliveries.ts";
import { createOrderedQueueStore } from "../../platform/jetstream/deliveries/ordered-queues.ts";
import { createOrderedQueueRequests } from "../../platform/jetstream/requests/ordered-queue-requests.ts";
import { ownerLimitsOf } from "../../platform/jetstream/buckets/quotas.ts";
import { servePoolRequests } from "../../platform/jetstream/requests/pool-requests.ts";
import { findScheduled, readDue } from "../../platform/jetstream/deliveries/due-deliveries.ts";
import { readReplays } from "../../platform/jetstream/deliveries/replays.ts";
import { replicasOf } from "../../platform/jetstream/members/delivery-replicas.ts";
import { runsOf } from "../../platform/jetstream/runs/commit-readers.ts";
import { endSchedule, publishScheduled } from "../../platform/jetstream/write/schedules.ts";
import { identityOf } from "../../platform/jetstream/streams/stream-identity.ts";
import { followDeliveriesUsage, streamUsage } from "../../platform/jetstream/streams/stream-limits.ts";
import { SeenRevisions } from "../../platform/jetstream/buckets/seen-revisions.ts";
import { serveWebhookTests } from "../../platform/jetstream/requests/webhook-test-requests.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import { createDeliveryRecords } from "../../platform/postgres/history/deliveries.ts";
import { createFailingEndpoints } from "../../platform/postgres/history/failing-endpoints.ts";
import { createHistory } from "../../platform/postgres/history/index.ts";
import { listOverQuota, listWeights } from "../../platform/postgres/quotas.ts";
import { createHmacSha256 } from "../../platform/secrets/hmac.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { createDeliveryMetrics } from "../../platform/telemetry/delivery-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { natsOf } from "../connections.ts";
import { databaseOf } from "../database.ts";
import type { RoleContext, StartedRole } from "../context.ts";

const attemptTimeoutMs = 15_000;
const attemptsPerWebhook = 16;
/** Webhooks of one origin share its connections, and one that hangs keeps as many as it has attempts: so many may hang before others wait. */
const connectionsPerOrigin = 32 * attemptsPerWebhook;
const dueConsumer = "delivery";

export async function start(context: RoleContext): Promise<StartedRole> {
  const { configuration, logger } = context;
  const nats = await natsOf(context);
  const postgres = await databaseOf(context, { waits: false });
  const poster = createWebhookClient({
    egress: createEgress({ allow: configuration.egressAllow }),
    timeoutMs: attemptTimeoutMs,
    connections: connectionsPerOrigin,
    proxy: configuration.deliveryProxy,
  });
  const kept = { events: configuration.keepEvents, logs: configuration.keepLogs };
  const history = await historyOf(postgres.database, nats.connection, kept);
  const admission = await followAdmission(nats.connection, configuration.backlog);
  let started: StartedDelivery | undefined;
  const ports = deliveryPorts({
    connection: nats.connection,
    history,
    poster,
    admission: admission.gate,
    secrets: await createSecrets(configuration.keysDirectory),
    log: logger,
    traces: context.traces,
    metrics: createDeliveryMetrics(
      processMetrics(),
      async () => ({ ...(await deliveryBacklog(nats.connection, dueConsumer)), ordered: started?.queuedOrdered() ?? 0 }),
      () => streamUsage(nats.connection),
    ),
  });
  const requests = await servePoolRequests(nats.connection);
  const delivery = await startDelivery(deliveryConfig(context), ports);
  started = delivery;
  const upkeep = startUpkeep(createHistory(postgres.database), logger);
  const takingUp = startRecoveringStranded(nats.connection, dueConsumer, {
    found: (messages) =>
      logger.warn({ op: "delivery.left_behind", messages }, "the message server had kept deliveries back: they are made again"),
    failed: (error) =>
      logger.debug({ op: "delivery.left_behind", err: error }, "not looked for deliveries that the message server keeps back"),
  });
  return {
    stop: async () => {
      await delivery.stop();
      await upkeep.stop();
      await takingUp.stop();
      await admission.stop();
      await requests.stop();
      await poster.close();
      await nats.release();
      await postgres.release();
    },
  };
}

export interface DeliveryParts extends Pick<DeliveryPorts, "history" | "poster" | "secrets" | "log" | "metrics" | "traces"> {
  readonly connection: Connection;
  /** Absent: reports of runners are not followed. */
  readonly admission?: DeliveryPorts["admission"];
}

export function deliveryPorts({ connection, ...parts }: DeliveryParts): DeliveryPorts {
  const routes = new Bucket<Route>(connection, buckets.routes, parseRoute);
  const replicas = replicasOf(connection, `d${randomBytes(8).toString("hex")}`);
  return {
    admission: new AdmissionGate(defaultBacklogLimits),
    ...parts,
    runs: runsOf(connection, parts.log),
    routes: { watch: (onEntry) => watchRoutes(connection, routes, onEntry) },
    deliveries: deliveriesOf(connection),
    announce: (event) => announceEmitted(connection, event),
    queueStore: createOrderedQueueStore(connection),
    replicas,
    orderedRequests: createOrderedQueueRequests(connection, () => replicas.isCurrent()),
    replays: { read: (onEvent) => readReplays(connection, onEvent) },
    tests: { serve: (test) => serveWebhookTests(connection, test) },
    invocations: {
      request: async (pool, source, invocation, messageId) => {
        await connection.publisher.publish(invokeSubject(pool, partitionOf(source), source), encodePack([invocation]), {
          messageId,
        });
      },
    },
    workflows: {
      store: async (workflow, delivery, messageId) => {
        await connection.publisher.publish(workflowSubject(workflow), delivery, { messageId });
      },
    },
    ownerLimits: ownerLimitsOf(connection),
    hmac: createHmacSha256(),
    clock: systemClock,
    random: Math.random,
  };
}

/** Written by the operator from typed values; an older version left the pool out. */
function parseRoute(json: unknown): Route {
  const route = json as Route;
  if (route.listener.kind !== "source") return route;
  return { ...route, listener: { ...route.listener, pool: route.listener.pool ?? defaultPool } };
}

function deliveryConfig({ configuration }: RoleContext): DeliveryConfig {
  const waits = configuration.deliveryRetryMs;
  return {
    deliveryDeadlineMs: 1_000,
    attemptsPerWebhook,
    maxDirectListeners: 16,
    maxQueued: 1_000_000,
    attemptTimeoutMs,
    ...(configuration.webhookDisableAfterMs === undefined ? {} : { disableAfterMs: configuration.webhookDisableAfterMs }),
    nextAttempt:
      waits === undefined
        ? nextAttempt
        : (attempt, _random, retryAfterMs = 0) =>
            waits[attempt - 1] === undefined ? undefined : Math.max(waits[attempt - 1] ?? 0, retryAfterMs),
  };
}

async function watchRoutes(
  connection: Connection,
  routes: Bucket<Route>,
  onEntry: (subscription: string, route: Route | undefined) => void,
): Promise<Reading> {
  const seen = new SeenRevisions(connection);
  const watching = await routes.watch({
    initial: true,
    onEntry: (subscription, route, revision) => {
      onEntry(subscription, route);
      seen.saw(revision);
    },
  });
  seen.start(buckets.routes);
  return {
    stop: async () => {
      seen.stop();
      await watching.stop();
    },
  };
}

function deliveriesOf(connection: Connection): Deliveries {
  const { publisher } = connection;
  return {
    schedule: async (webhook, delivery, text, atMs, messageId) => {
      await publishScheduled(publisher, {
        subject: retrySubject(webhook, delivery),
        schedule: { kind: "at", atMs },
        target: deliverSubject(webhook, delivery),
        body: text,
        messageId,
      });
    },
    withdraw: (webhook, delivery) => endSchedule(connection, streams.deliveries, retrySubject(webhook, delivery)),
    usage: followDeliveriesUsage(connection),
    findScheduled: (webhook, delivery) => findScheduled(connection, webhook, delivery),
    read: (readers) => readDue(connection, dueConsumer, readers),
  };
}

export async function historyOf(
  database: Database,
  connection: Connection,
  kept: { readonly events: number; readonly logs: number },
): Promise<History> {
  const history = createHistory(database, { kept });
  const records = createDeliveryRecords(database);
  const endpoints = createFailingEndpoints(database);
  // A stream that was made anew counts from 1 again: it must not be taken for the old one.
  const stream = `${streams.runs}@${identityOf(await connection.manager.streams.info(streams.runs))}`;
  return {
    positions: () => history.readPositions(stream),
    recordCommits: (commits, expected) => history.recordCommits(stream, commits, expected),
    // A stream that was made anew since has recorded, or lost, all of the former one.
    scheduledEvent: (source, listedId, position) =>
      history.scheduledEvent(source, listedId, { stream, seq: `${streams.runs}@${position.stream}` === stream ? position.seq : 0 }),
    emitScheduledEvent: (source, listedId, id) => history.emitScheduledEvent(source, listedId, id),
    listOverQuota: (dayMs) => listOverQuota(database.db, dayMs),
    listWeights: () => listWeights(database.db),
    recordAttempts: (attempts) => records.recordAttempts(attempts),
    recordDeadLetters: (letters) => records.recordDeadLetters(letters),
    findDeadLetter: (webhook, delivery) => records.findDeadLetter(webhook, delivery),
    oldestDeadLetters: (webhook, upTo, limit) => records.oldestDeadLetters(webhook, upTo, limit),
    removeDeadLetters: (webhook, ids) => records.removeDeadLetters(webhook, ids),
    listFailingWebhooks: () => endpoints.all(),
    saveWebhookFailures: (failing, recovered) => endpoints.save(failing, recovered),
  };
}

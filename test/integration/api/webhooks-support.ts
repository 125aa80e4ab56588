import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { CompiledQuery } from "kysely";
import { afterAll, afterEach, beforeAll } from "vitest";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { Conflict } from "../../../domain/errors.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import type { DeliveryConfig } from "../../../delivery/ports.ts";
import type { History } from "../../../delivery/record/ports.ts";
import { startDelivery, type StartedDelivery } from "../../../delivery/start.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { markDisabled } from "../../../operator/webhook/disabled.ts";
import { webhookReconciler } from "../../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { RunAnswers } from "../../../platform/jetstream/requests/run-answers.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { readWebhookBacklog } from "../../../platform/jetstream/deliveries/webhook-backlog.ts";
import { createSecrets } from "../../../platform/secrets/secrets.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { operatorPorts } from "../../../wiring/roles/operator-ports.ts";
import { createRedeliveries } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { resourcesOnOneMachine } from "../../../wiring/resources.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { ada, withApi, type Answer, type TestApi } from "./support.ts";
import { withJetStream, type TestJetStream } from "../jetstream/support.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const egressAllow = ["127.0.0.1/32"];
const namespace = namespaceOfOwner(ada.id);

export interface Received {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An endpoint on loopback. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on. */
  status: number;
  /** Of the next answer only. */
  nextStatus?: number;
  /** Besides the status. */
  answer: { readonly headers?: OutgoingHttpHeaders; readonly body?: string | Buffer };
}

export interface RepairWorld {
  readonly api: TestApi;
  readonly streams: TestJetStream;
  /** Waits in front of the attempts after the first, ms. */
  waits: number[];
  /** What commits of `emit` have beside their events. */
  also: Partial<Commit>;
  /** Starts the delivery role, with this in place of what it does with Postgres and of its settings; it ends with the test. */
  deliver(history?: Partial<History>, settings?: Partial<DeliveryConfig>): Promise<StartedDelivery>;
  receive(): Promise<Receiver>;
  /** A webhook of ada's, as the operator leaves it. */
  createWebhook(url: string, fields?: object): Promise<{ readonly id: string; readonly signing_key: string }>;
  /** The same that hears of all that ada's sources emit, for as long as the test goes on. */
  subscribedWebhook(url: string, fields?: object): Promise<{ readonly id: string; readonly signing_key: string }>;
  /** Deletes it, and its subscription. */
  remove(webhook: string): Promise<void>;
  /** What the operator does when the webhook or a subscription to it has changed. */
  observe(webhook: string): Promise<void>;
  /** A run of a new source of ada's, that emits these. Returns their emit ids. */
  emit(...values: readonly unknown[]): Promise<readonly string[]>;
  /** A run of that source, after its earlier ones. */
  emitFrom(source: string, ...values: readonly unknown[]): Promise<readonly string[]>;
  get(path: string): Promise<Answer["body"]>;
  /** What delivery knows of a webhook or a subscription. */
  routeOf(id: string): Promise<Route | undefined>;
  query(statement: string, ...values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The real API, operator and delivery of webhooks over a real Postgres and NATS, with keys that are really sealed. */
export function withRepairWorld(): RepairWorld {
  const streams = withJetStream({ partitions: partitionCount });
  let [directory, ports, keys, poster]: [TemporaryDirectory, OperatorPorts, SigningKeys, WebhookClient] = [] as never;
  const api = withApi(
    { deployTimeoutMs: 20_000 },
    {
      secretValues: { keep: (holder, texts) => ports.secretValues.keep(holder, texts) },
      redeliveries: {
        request: (request) => createRedeliveries(streams.connection).request(request),
        test: (request) => createRedeliveries(streams.connection).test(request),
      },
      backlogs: { read: (webhook) => readWebhookBacklog(streams.connection, webhook) },
    },
  );
  const ends: (() => Promise<void>)[] = [];
  /** Subscriptions by their webhook. */
  const subscribed = new Map<string, string>();

  beforeAll(async () => {
    directory = await temporaryDirectory("repair-keys");
    const secrets = await createSecrets(directory.path);
    const resources = resourcesOnOneMachine({ database: api.database, secrets });
    const answers = new RunAnswers(streams.connection);
    ports = operatorPorts({
      connection: streams.connection,
      database: api.database,
      answers,
      secrets,
      resources,
      log: silent,
      egressAllow,
    });
    keys = new SigningKeys(ports);
    poster = createWebhookClient({ egress: createEgress({ allow: egressAllow }), timeoutMs: 5_000, connections: 4 });
  });
  afterEach(async () => {
    world.also = {};
    for (const webhook of subscribed.keys()) await world.remove(webhook);
    for (const end of ends.splice(0).toReversed()) await end();
  });
  afterAll(async () => {
    await poster.close();
    await directory.remove();
  });

  async function deliver(instead: Partial<History> = {}, settings: Partial<DeliveryConfig> = {}) {
    const history = {
      ...createDeliveryHistory(api.database, { ...(await recordedRuns(streams.connection)), kept: { events: 100, logs: 100 } }),
      ...instead,
    };
    const config: DeliveryConfig = {
      deliveryDeadlineMs: 2_000,
      attemptsPerWebhook: 4,
      maxDirectListeners: 16,
      attemptTimeoutMs: 5_000,
      nextAttempt: (attempt) => world.waits[attempt - 1],
      ...settings,
    };
    const { secrets } = ports;
    const delivery = await startDelivery(config, deliveryPorts({ connection: streams.connection, history, poster, secrets, log: silent }));
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= delivery.stop());
    ends.push(stop);
    return { ...delivery, stop };
  }

  async function receive(): Promise<Receiver> {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        receiver.received.push({ body, headers: textsOf(request.headers) });
        const { status, nextStatus = status } = receiver;
        delete receiver.nextStatus;
        response.writeHead(nextStatus, receiver.answer.headers).end(receiver.answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // Listening on TCP.
    const receiver: Receiver = { url: `http://127.0.0.1:${port}/hook`, received: [], status: 200, answer: {} };
    ends.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return receiver;
  }

  /** Its status and ours meet on the same resource. */
  async function untilWritten(reconcile: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await reconcile();
        return;
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
      }
    }
  }

  async function createWebhook(url: string, fields: object = {}) {
    const { body } = await api.ask("POST", "/v1/webhooks", { body: { url, ...fields } });
    await world.observe(body.data.id);
    return body.data as { readonly id: string; readonly signing_key: string };
  }

  let number = 0;
  /** Sequences of the last commits, by source. */
  const lastCommits = new Map<string, number>();
  const world: RepairWorld = {
    api,
    streams,
    waits: [],
    also: {},
    deliver,
    receive,
    createWebhook,
    async subscribedWebhook(url, fields) {
      const webhook = await createWebhook(url, fields);
      const { status, body } = await api.ask("POST", `/v1/subscriptions?emitter_id=dc_*&listener_id=${webhook.id}`);
      if (status !== 200) throw new Error(`the subscription was answered ${status}`);
      subscribed.set(webhook.id, body.data.id);
      await world.observe(webhook.id);
      return webhook;
    },
    async remove(webhook) {
      await api.ask("DELETE", `/v1/webhooks/${webhook}`);
      await world.observe(webhook);
      // The small operator of the API has let the subscription go, and knows of no routes.
      await ports.routes.delete(subscribed.get(webhook) ?? "");
      subscribed.delete(webhook);
    },
    async observe(webhook) {
      await markDisabled(ports, new AbortController().signal);
      await untilWritten(() => webhookReconciler({}, ports, keys)(`${namespace}/${resourceNameOf(webhook)}`));
      const { items } = await api.store.list(subscriptionKind, { namespace });
      for (const { metadata } of items) await untilWritten(() => subscriptionReconciler(ports, keys)(`${namespace}/${metadata.name}`));
    },
    emit: (...values) => world.emitFrom(`dc_emitter${number + 1}`, ...values),
    async emitFrom(source, ...values) {
      number++;
      const at = 1_700_000_000_000 + number;
      const events = values.map((value, n) => ({
        id: `${at}-${n}`,
        emitId: `em${number}x${n}`,
        channel: "",
        dedupeId: null,
        summary: null,
        ts: at,
        payload: JSON.stringify(value),
      }));
      const run = { id: `r_${number}`, trigger: "http", generation: 1, startedAt: at, durationMs: 1, cpuMs: 1, result: null } as const;
      const commit: Commit = {
        source,
        owner: ada.id,
        deployment: "d_1",
        run,
        events,
        logs: [],
        error: null,
        state: emptyState,
        ...world.also,
      };
      const ref = { source, owner: ada.id, partition: partitionOf(source) };
      const appended = await appendCommit(streams.connection, ref, JSON.stringify(commit), lastCommits.get(source) ?? 0);
      if (appended.outcome === "stored") lastCommits.set(source, appended.sequence);
      return events.map(({ emitId }) => emitId);
    },
    get: async (path) => {
      const { status, body, text } = await api.ask("GET", path);
      if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`);
      return body;
    },
    routeOf: (id) => ports.routes.get(id),
    query: (statement, ...values) => api.database.db.executeQuery(CompiledQuery.raw(statement, [...values])),
  };
  return world;
}

/** Of a request of ours each header came once. */
function textsOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

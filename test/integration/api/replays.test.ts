import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DeliveryConfig } from "../../../delivery/ports.ts";
import { startDelivery } from "../../../delivery/start.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import type { Route, RouteListener } from "../../../domain/source/deployment.ts";
import { decodePack } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { buckets, invokeSubject, partitionCount, replayConsumer, replayLaneCount, streams } from "../../../domain/subjects.ts";
import { formatSigningKey } from "../../../domain/delivery/webhook-signature.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { requestRedelivery } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { publishReplay } from "../../../platform/jetstream/deliveries/replays.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { ada, keys, withApi } from "./support.ts";
import { commitOf } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { withJetStream } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

/** A replay from the request to the listener: API, stream and delivery are real, the routes are written as the operator writes them. */
const nats = withJetStream({ partitions: partitionCount });
const api = withApi({}, { replays: { publish: (events) => publishReplay(nats.connection, events) } });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const config: DeliveryConfig = {
  deliveryDeadlineMs: 500,
  attemptsPerWebhook: 4,
  maxDirectListeners: 16,
  attemptTimeoutMs: 1_500,
  nextAttempt: (attempt) => [100, 100, 100][attempt - 1],
};
const signingKey = formatSigningKey(randomBytes(32));

interface Received {
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

let poster: WebhookClient;
let source: string;
const servers: Server[] = [];
const running: { stop(): Promise<void> }[] = [];
let [number, seq] = [0, 0];

beforeAll(() => {
  poster = createWebhookClient({
    egress: createEgress({ allow: ["127.0.0.1/32"] }),
    timeoutMs: config.attemptTimeoutMs,
    connections: config.attemptsPerWebhook,
  });
});
beforeEach(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
});
afterEach(async () => {
  for (const delivery of running.splice(0)) await delivery.stop();
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await poster.close();
});

async function startDeliveries(given: Partial<DeliveryConfig> = {}): Promise<{ stop(): Promise<void> }> {
  const history = createDeliveryHistory(api.database, { ...(await recordedRuns(nats.connection)), kept: { events: 100, logs: 100 } });
  const secrets = { open: async (sealed: string) => sealed };
  const delivery = await startDelivery(
    { ...config, ...given },
    deliveryPorts({ connection: nats.connection, history, poster, secrets, log: silent }),
  );
  running.push(delivery);
  return delivery;
}

/** What an endpoint receives, and how it answers the requests, counted from 1. */
async function receiver(statusOf: (request: number) => number = () => 200) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ body, headers: request.headers });
      response.writeHead(statusOf(received.length)).end();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }; // Listening on TCP.
}

const webhookAt = (id: string, url: string): RouteListener => ({ kind: "webhook", id, url, keys: [signingKey] });

async function subscribe(listener: RouteListener, given: Partial<Route> = {}): Promise<string> {
  const subscription = `sub_${++number}`;
  await putRoute(subscription, { emitter: source, listener, ...given });
  return subscription;
}

async function putRoute(subscription: string, given: Pick<Route, "emitter" | "listener"> & Partial<Route>): Promise<void> {
  const routes = new Bucket<Route>(nats.connection, buckets.routes, (json) => json as Route);
  await routes.put(subscription, { subscription, owner: ada.id, channel: "", ...given });
}

async function createWebhook(url: string): Promise<string> {
  return (await api.ask("POST", "/v1/webhooks", { body: { url } })).body.data.id;
}

const record = (events: readonly CommittedEvent[]) =>
  api.history.recordCommits("TEST", [{ seq: ++seq, commit: commitOf(source, ada.id, events) }]);
const numbered = (count: number): readonly CommittedEvent[] => Array.from({ length: count }, (_, n) => event(`${n + 1}-0`));

const replay = (body: object = {}, key: string = keys.ada) => api.ask("POST", `/v1/sources/${source}/replays`, { key, body });
const idsIn = (received: readonly Received[]): readonly string[] =>
  received.map(({ body }) => (JSON.parse(body) as { readonly id: string }).id);

describe("a replay", () => {
  test("is limited to a rate per host, over all webhooks and replays", async () => {
    await startDeliveries({ replayPace: { burst: 4, perSecond: 20 } });
    const [one, two] = [await receiver(), await receiver()];
    await subscribe(webhookAt("wh_one", one.url));
    await subscribe(webhookAt("wh_two", two.url));
    await record(numbered(6));
    const startedAt = Date.now();
    for (const { status } of [await replay(), await replay()]) expect(status).toBe(202);
    await until(() => one.received.length === 12 && two.received.length === 12, "all of both replays at both webhooks");
    // 24 posts: 4 at once, the others 50 ms apart.
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  test("delivers stored events oldest first, signed, marked, and under new ids", async () => {
    await startDeliveries();
    const [one, two] = [await receiver(), await receiver()];
    await subscribe(webhookAt("wh_one", one.url));
    await subscribe(webhookAt("wh_two", two.url), { emitter: "dc_*" });
    await record(numbered(40));
    const { status, body } = await replay();
    expect([status, body.data]).toEqual([
      202,
      {
        id: expect.stringMatching(/^rp_[0-9a-z]{12}$/),
        source_id: source,
        events: 40,
        start_id: "1-0",
        end_id: "40-0",
        event_name: null,
        listener_id: null,
      },
    ]);
    await until(() => one.received.length === 40 && two.received.length === 40, "all of it at both");
    const expected = numbered(40).map(({ id }) => id);
    for (const { received } of [one, two]) {
      expect(idsIn(received)).toEqual(expected);
      expect(received.map(({ headers }) => headers["webhook-id"])).toEqual(expected.map((id) => `em_${id}-${body.data.id}`));
      expect(new Set(received.map(({ headers }) => headers["x-headwater-replay"]))).toEqual(new Set([body.data.id]));
    }
    const [{ body: text, headers } = { body: "", headers: {} }] = one.received;
    expect(new Webhook(signingKey).verify(text, headers as Record<string, string>)).toEqual({ id: "1-0" }); // Each header came once.
  });

  test.each([
    [{ start_id: "2-0" }, ["2-0", "3-0", "4-0"]],
    [{ end_id: "2-0", start_id: "" }, ["1-0", "2-0"]],
    [{ start_id: "2-0", end_id: "3-0", event_name: null }, ["2-0", "3-0"]],
    [{ event_name: "c" }, ["3-0"]],
    [{ start_id: "9-0" }, []],
  ])("of %j delivers %j", async (range, expected) => {
    await startDeliveries();
    const { received, url } = await receiver();
    for (const channel of ["", "c"]) await subscribe(webhookAt("wh_range", url), { channel });
    await record([event("1-0"), event("2-0"), event("3-0", { channel: "c" }), event("4-0")]);
    expect((await replay(range)).body.data).toMatchObject({ events: expected.length, start_id: expected.at(0) ?? null });
    await record([event("10-0")]);
    expect((await replay({ start_id: "10-0" })).body.data.events).toBe(1);
    await until(() => idsIn(received).includes("10-0"), "a later one");
    expect(idsIn(received)).toEqual([...expected, "10-0"]);
  });

  test("for one listener reaches no other", async () => {
    await startDeliveries();
    const [one, other] = [await receiver(), await receiver()];
    const webhook = await createWebhook(one.url);
    await subscribe(webhookAt(webhook, one.url));
    await subscribe(webhookAt("wh_other", other.url));
    await record(numbered(3));
    const { status, body } = await replay({ listener_id: webhook });
    expect([status, body.data.listener_id]).toEqual([202, webhook]);
    await replay({ start_id: "3-0" });
    await until(() => one.received.length === 4 && other.received.length > 0, "both replays");
    expect([idsIn(one.received), idsIn(other.received)]).toEqual([["1-0", "2-0", "3-0", "3-0"], ["3-0"]]);
  });

  test("runs listening sources on every replay", async () => {
    await startDeliveries();
    const listener = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Listener" } })).body.data.id;
    await subscribe({ kind: "source", id: listener, pool: "default" });
    await record([event("1-0", { ts: 77 })]);
    await replay();
    await replay({ listener_id: listener });
    const subject = invokeSubject("default", partitionOf(listener), listener);
    const { manager } = nats.connection;
    const waiting = async () => (await manager.streams.info(streams.invocations, { subjects_filter: subject })).state.subjects?.[subject];
    await until(async () => (await waiting()) === 2, "both are asked for");
    const stored = await manager.direct.getMessage(streams.invocations, { last_by_subj: subject });
    const way = [expect.stringMatching(/^dc_/)];
    const metadata = { name: "", emitter_id: way[0], emit_id: expect.stringMatching(/^em_1-0-rp_/), ts: 77 };
    expect(decodePack(stored?.string() ?? "")).toEqual([
      { source: listener, trigger: "event", at: 77, delivery: expect.any(String), hops: 1, way, metadata, event: { id: "1-0" } },
    ]);
  });

  test("keeps its mark and its id across attempts", async () => {
    await startDeliveries();
    const { received, url } = await receiver((request) => (request < 3 ? 503 : 200));
    await subscribe(webhookAt("wh_retried", url));
    await record(numbered(1));
    const { id } = (await replay()).body.data;
    await until(() => received.length === 3, "three attempts");
    for (const { headers } of received)
      expect(headers).toMatchObject({ "webhook-id": `em_1-0-${id}`, "x-headwater-replay": id, "x-pd-emitter-id": source });
  });
});

describe("a replayed event that became a dead letter", () => {
  test("keeps its mark and its id when it is redelivered", async () => {
    const { received, url } = await receiver((request) => (request === 1 ? 410 : 200));
    // Gone it is disabled: enabled again after that, it is posted to.
    const webhook = { ...webhookAt("wh_dead", url), enabledAt: Date.now() + 3_600_000 };
    const subscription = await subscribe(webhook);
    await putRoute("wh_dead", { emitter: "wh_dead", listener: webhook }); // Its own entry, as the operator writes one for each webhook.
    await startDeliveries();
    await record(numbered(1));
    const { id } = (await replay()).body.data;
    const letters = async () => (await createDeliveryRecords(api.database).pageDeadLetters("wh_dead", { limit: 10, cursor: null })).items;
    await until(async () => (await letters()).length === 1, "a dead letter");
    await requestRedelivery(nats.connection, { webhook: "wh_dead", deliveries: [`em_1-0-${id}.${subscription}`] });
    await until(() => received.length === 2, "another attempt");
    for (const { headers } of received) expect(headers).toMatchObject({ "webhook-id": `em_1-0-${id}`, "x-headwater-replay": id });
  });
});

describe("a replay loses no event", () => {
  test("if delivery does not run at the time of the request", async () => {
    const { received, url } = await receiver();
    await subscribe(webhookAt("wh_later", url));
    await record(numbered(100));
    expect((await replay()).body.data.events).toBe(100);
    await api.ask("DELETE", `/v1/sources/${source}/events`);
    await startDeliveries();
    await until(() => received.length === 100, "all of it");
    expect(idsIn(received)).toEqual(numbered(100).map(({ id }) => id));
  });

  /** Stopped during an attempt, delivery has not acked it: the next process starts with that event, and the order is kept. */
  test("if delivery stops in between", async () => {
    const answers = Promise.withResolvers<void>();
    const { received, url } = await receiver((request) => {
      if (request === 5) answers.resolve();
      return 200;
    });
    await subscribe(webhookAt("wh_midst", url));
    await record(numbered(30));
    const first = await startDeliveries();
    const { id } = (await replay()).body.data;
    await answers.promise;
    await first.stop();
    const before = received.length;
    await startDeliveries();
    const ids = () => new Set(received.map(({ headers }) => headers["webhook-id"]));
    await until(() => ids().size === 30, "all of it");
    expect([...ids()]).toEqual(numbered(30).map((each) => `em_${each.id}-${id}`));
    expect(before).toBeLessThan(30);
  });

  test("and a hanging listener delays only its own deliveries", async () => {
    const healthy = await receiver();
    const hanging = createServer(() => undefined);
    servers.push(hanging);
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    await subscribe(webhookAt("wh_hanging", `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`));
    await subscribe(webhookAt("wh_healthy", healthy.url));
    await record(numbered(4));
    await startDeliveries();
    await replay();
    await until(() => healthy.received.length === 4, "the healthy one has all");
    expect(idsIn(healthy.received)).toEqual(["1-0", "2-0", "3-0", "4-0"]);
    const { state } = await nats.connection.manager.streams.info(streams.deliveries, { subjects_filter: "retry.wh_hanging.>" });
    expect(Object.keys(state.subjects ?? {}).length).toBeGreaterThan(0);
    hanging.closeAllConnections();
  });
});

describe("a refused replay", () => {
  test.each([
    [{ start_id: "1" }, 422, "invalid_input"],
    [{ end_id: 5 }, 422, "invalid_input"],
    [{ event_name: "$errors" }, 422, "invalid_input"],
    [{ listener_id: "u_ada" }, 422, "invalid_input"],
    [{ listener_id: "wh_nowhere" }, 404, "not_found"],
    [{ listener_id: "dc_nowhere" }, 404, "not_found"],
    [{ listener_id: "p_nowhere" }, 404, "not_found"],
  ])("for %j", async (body, status, code) => {
    const answer = await replay(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("of and for resources of others", async () => {
    expect((await replay({}, keys.bob)).status).toBe(404);
    const theirs = (await api.ask("POST", "/v1/webhooks", { key: keys.bob, body: { url: "https://example.com/" } })).body.data.id;
    expect((await replay({ listener_id: theirs })).status).toBe(404);
  });

  test("stores nothing", async () => {
    const before = await lanes();
    await record(numbered(2));
    for (const body of [{ start_id: "x" }, { listener_id: "wh_nowhere" }]) await replay(body);
    expect(await lanes()).toEqual(before);
  });
});

/** Of each lane, how far it was read and what waits there. */
async function lanes(): Promise<readonly unknown[]> {
  const { consumers } = nats.connection.manager;
  const all = Array.from({ length: replayLaneCount }, (_, lane) => consumers.info(streams.deliveries, replayConsumer(lane)));
  return (await Promise.all(all)).map(({ delivered, num_pending }) => [delivered.stream_seq, num_pending]);
}

import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../domain/run/commit.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { buckets, partitionCount } from "../../domain/subjects.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import type { DeliveryConfig } from "../../delivery/ports.ts";
import { startDelivery } from "../../delivery/start.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../platform/http/webhook-client.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import { appendCommit } from "../../platform/jetstream/runs/commits.ts";
import { createDatabase, type Database } from "../../platform/postgres/connection.ts";
import { createDeliveryRecords } from "../../platform/postgres/history/deliveries.ts";
import { deliveryPorts } from "../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../platform/jetstream/streams/stream-identity.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import { startProxy } from "../support/cuttable-proxy.ts";
import { withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";

const postgres = withMigratedPostgres();
const streams = withJetStream({ partitions: partitionCount });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** No attempt reaches the limits of time, however busy the machine is. */
const config: DeliveryConfig = {
  deliveryDeadlineMs: 600_000,
  attemptsPerWebhook: 4,
  maxDirectListeners: 16,
  attemptTimeoutMs: 600_000,
  nextAttempt: (attempt) => [200, 200, 200][attempt - 1],
};
const signingKey = formatSigningKey(randomBytes(32));

interface Received {
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
  readonly at: number;
}

let database: Database;
let poster: WebhookClient;
const servers: Server[] = [];
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  database = createDatabase({ url: postgres.urlOf("delivery") });
  poster = createWebhookClient({
    egress: createEgress({ allow: ["127.0.0.1/32"] }),
    timeoutMs: config.attemptTimeoutMs,
    connections: 4,
  });
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
  await database.close();
});

async function start(used = poster): Promise<{ stop(): Promise<void> }> {
  const history = createDeliveryHistory(database, { ...(await recordedRuns(streams.connection)), kept: { events: 100, logs: 100 } });
  const secrets = { open: (sealed: string) => Promise.resolve(sealed) };
  const ports = deliveryPorts({ connection: streams.connection, history, poster: used, secrets, log: silent });
  const delivery = await startDelivery(config, ports);
  running.push(delivery);
  return delivery;
}

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end("ok")) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ body, headers: request.headers, at: performance.now() });
      answer(request, response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { received, end, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }; // Listening on TCP.
}

let number = 0;
async function subscribe(source: string, url: string): Promise<{ webhook: string; subscription: string }> {
  const subscription = `sub_${++number}`;
  const webhook = `wh_${number}`;
  const route: Route = {
    subscription,
    owner: "u_1",
    emitter: source,
    channel: "",
    listener: { kind: "webhook", id: webhook, url, keys: [signingKey] },
  };
  await new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route).put(subscription, route);
  return { webhook, subscription };
}

const last = new Map<string, number>();
async function commit(source: string, values: readonly unknown[]): Promise<readonly string[]> {
  const at = ++number;
  const events = values.map((value, n) => ({
    id: `${1_700_000_000_000 + at}-${n}`,
    emitId: `em${at}x${n}`,
    channel: "",
    dedupeId: null,
    summary: null,
    ts: 1,
    payload: JSON.stringify(value),
  }));
  const run = {
    id: `r_${at}`,
    trigger: "http",
    generation: 1,
    startedAt: Date.now(),
    durationMs: 1,
    cpuMs: 1,
    result: null,
  } as const;
  const text: Commit = {
    source,
    owner: "u_1",
    deployment: "d_1",
    run,
    events,
    logs: [],
    error: null,
    state: emptyState,
  };
  const appended = await appendCommit(
    streams.connection,
    { source, owner: "u_1", partition: partitionOf(source) },
    JSON.stringify(text),
    last.get(source) ?? 0,
  );
  if (appended.outcome === "stored") last.set(source, appended.sequence);
  expect(appended.outcome).toBe("stored");
  return events.map(({ emitId }) => emitId);
}

const newSource = (): string => `dc_source${++number}`;
const firstOf = (received: readonly Received[]): Received => {
  const [first] = received;
  if (first === undefined) throw new Error("nothing was received");
  return first;
};

describe("delivery to webhooks", () => {
  it("posts the event as it was emitted, signed in both ways, under a stable id", async () => {
    const { received, url } = await receiver();
    const source = newSource();
    await subscribe(source, url);
    await start();
    const [emitId = ""] = await commit(source, [{ hello: "wörld" }]);
    await until(() => received.length === 1, "one delivery");
    const { body, headers } = firstOf(received);
    expect(body).toBe('{"hello":"wörld"}');
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": emitId,
      "x-pd-emitter-id": source,
    });
    expect(new Webhook(signingKey).verify(body, headers as Record<string, string>)).toEqual({ hello: "wörld" }); // Each header came once.
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers["x-pd-signature"])) ?? [];
    expect(v1).toBe(createHmac("sha256", signingKey).update(`${t}.${body}`).digest("hex"));
  });

  it("delivers the events of a source in the order of emission", async () => {
    const { received, url } = await receiver();
    const source = newSource();
    await subscribe(source, url);
    await start();
    for (let n = 0; n < 5; n++) await commit(source, [{ n: n * 2 }, { n: n * 2 + 1 }]);
    await until(() => received.length === 10, "ten deliveries");
    expect(received.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, (_, n) => `{"n":${n}}`));
  });

  it("retries after a 503, with the same id, and records each attempt", async () => {
    let calls = 0;
    const { received, url } = await receiver((_request, response) => {
      response.statusCode = ++calls < 3 ? 503 : 200;
      response.end();
    });
    const source = newSource();
    const { webhook } = await subscribe(source, url);
    await start();
    await commit(source, [{ n: 1 }]);
    await until(() => received.length === 3, "three attempts");
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const records = createDeliveryRecords(database);
    await until(
      async () => (await records.pageAttempts(webhook, { limit: 10, cursor: null })).items.length === 3,
      "three recorded attempts",
    );
    const { items } = await records.pageAttempts(webhook, { limit: 10, cursor: null });
    expect(items.map(({ attempt, status, outcome }) => [attempt, status, outcome])).toEqual([
      [3, 200, "delivered"],
      [2, 503, "retry"],
      [1, 503, "retry"],
    ]);
  });

  it("makes a dead letter after the last attempt, and at once after a 410", async () => {
    const failing = await receiver((_request, response) => response.writeHead(500).end());
    const gone = await receiver((_request, response) => response.writeHead(410).end());
    const source = newSource();
    const dead = await subscribe(source, failing.url);
    const deadAtOnce = await subscribe(source, gone.url);
    await start();
    await commit(source, [{ n: 1 }]);
    const records = createDeliveryRecords(database);
    const letters = async (webhook: string) => (await records.pageDeadLetters(webhook, { limit: 10, cursor: null })).items;
    await until(
      async () => (await letters(dead.webhook)).length === 1 && (await letters(deadAtOnce.webhook)).length === 1,
      "two dead letters",
    );
    expect(failing.received).toHaveLength(4);
    expect(gone.received).toHaveLength(1);
    expect((await letters(dead.webhook))[0]).toMatchObject({
      attempts: 4,
      payload: '{"n":1}',
      reason: "the endpoint answered 500",
    });
  });

  it("is not delayed by endpoints that hang, refuse, fail or redirect", async () => {
    const healthy = await receiver();
    const hanging = await receiver(() => undefined);
    const failing = await receiver((_request, response) => response.writeHead(500).end());
    const metadata = await receiver((_request, response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end());
    const sources = Array.from({ length: 4 }, newSource);
    for (const source of sources) {
      for (const url of [
        hanging.url,
        failing.url,
        metadata.url,
        "http://127.0.0.1:1/refused",
        "http://169.254.169.254/latest",
        healthy.url,
      ])
        await subscribe(source, url);
    }
    const client = createWebhookClient({
      egress: createEgress({ allow: ["127.0.0.1/32"] }),
      timeoutMs: config.attemptTimeoutMs,
      connections: sources.length,
    });
    await start(client);
    for (let round = 0; round < 3; round++) {
      await Promise.all(sources.map((source) => commit(source, [{ round, source }])));
      // A busy machine may deliver one twice.
      const heard = () => new Set(healthy.received.map(({ body }) => body).filter((body) => body.includes(`"round":${round},`)));
      await until(() => heard().size === sources.length, "the healthy endpoint hears of each source");
    }
    await until(() => hanging.received.length === sources.length, "the first of each source hangs, and the others behind it");
    expect(new Set(hanging.received.map(({ body }) => body))).toEqual(
      new Set(sources.map((source) => JSON.stringify({ round: 0, source }))),
    );
    hanging.end(); // Otherwise the deliveries that still wait for it delay the end of this test.
    await running.pop()?.stop();
    await client.close();
  });

  it("is not delayed by webhooks of the same host that hang", async () => {
    const hanging: ServerResponse[] = [];
    const { received, url } = await receiver(
      (request, response) => void (request.url === "/hangs" ? hanging.push(response) : response.end()),
    );
    const sources = Array.from({ length: config.attemptsPerWebhook }, newSource);
    for (const source of sources) await subscribe(source, url.replace("/hook", "/hangs"));
    const source = newSource();
    await subscribe(source, url);
    const client = createWebhookClient({
      egress: createEgress({ allow: ["127.0.0.1/32"] }),
      timeoutMs: config.attemptTimeoutMs,
      connections: 2 * config.attemptsPerWebhook,
    });
    await start(client);
    await Promise.all(sources.map((each) => commit(each, [{ n: 0 }])));
    await until(() => hanging.length === sources.length, "as many hang as one webhook may have under way");
    await commit(source, [{ n: 1 }]);
    await until(() => received.some(({ body }) => body === '{"n":1}'), "the other is posted to");
    for (const response of hanging) response.end();
    await running.pop()?.stop();
    await client.close();
  });

  it("repeats deliveries that were not settled when it stopped, with the same ids", async () => {
    let open = false;
    const { received, url } = await receiver((_request, response) => {
      response.statusCode = open ? 200 : 503;
      response.end();
    });
    const source = newSource();
    await subscribe(source, url);
    const first = await start();
    const ids = (await Promise.all([1, 2, 3].map((n) => commit(source, [{ n }]).catch(() => [])))).flat();
    await until(() => received.length > 0, "a first attempt");
    await first.stop();
    open = true;
    await start();
    const delivered = () => new Set(received.map(({ headers }) => headers["webhook-id"]));
    await until(() => ids.every((id) => delivered().has(id)), "all ids");
  });

  it("does not repeat deliveries that were in flight at a graceful stop", async () => {
    const open: ServerResponse[] = [];
    const { received, url } = await receiver((_request, response) => void open.push(response));
    const answer = (): void => open.splice(0).forEach((response) => response.end("ok"));
    const source = newSource();
    await subscribe(source, url);
    const first = await start();
    await commit(source, [{ n: 1 }]);
    await until(() => received.length === 1, "the attempt is under way");
    const stopping = first.stop();
    answer();
    await stopping;
    await start();
    await commit(source, [{ n: 2 }]);
    await until(() => received.length === 2, "what is committed later");
    answer();
    expect(received.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it("delivers while Postgres is down from the start, and records when it is back", async () => {
    const { received, url } = await receiver();
    const source = newSource();
    await subscribe(source, url);
    const real = new URL(postgres.urlOf("delivery"));
    const there = await startProxy(Number(real.port));
    const away = new URL(real);
    away.port = String(there.port);
    await there.close();
    const late = createDatabase({ url: away.href });
    const history = createDeliveryHistory(late, { ...(await recordedRuns(streams.connection)), kept: { events: 100, logs: 100 } });
    const secrets = { open: (sealed: string) => Promise.resolve(sealed) };
    const delivery = await startDelivery(config, deliveryPorts({ connection: streams.connection, history, poster, secrets, log: silent }));
    await commit(source, [{ n: 1 }]);
    await until(() => received.length === 1, "it is delivered");
    const recorded = async (): Promise<number | null> =>
      (await postgres.client.query("select 1 from events where source = $1", [source])).rowCount;
    expect(await recorded()).toBe(0);
    const back = await startProxy(Number(real.port), there.port);
    await until(async () => (await recorded()) === 1, "it is recorded");
    await delivery.stop();
    await late.close();
    await back.close();
  });

  it("records each commit once", async () => {
    const source = newSource();
    const first = await start();
    await commit(source, [{ n: 1 }]);
    await first.stop();
    await commit(source, [{ n: 2 }]);
    await start();
    const { rows } = await (async () => {
      await until(async () => (await postgres.client.query("select 1 from events where source = $1", [source])).rowCount === 2, "two rows");
      return postgres.client.query<{ payload: string }>("select payload::text from events where source = $1", [source]);
    })();
    expect(rows).toHaveLength(2);
  });
});

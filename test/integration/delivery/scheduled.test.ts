import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { buckets, partitionCount, streams as names } from "../../../domain/subjects.ts";
import type { DeliveryPorts } from "../../../delivery/ports.ts";
import type { PostRequest } from "../../../delivery/destinations/ports.ts";
import { startDelivery } from "../../../delivery/start.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { followEmitted } from "../../../platform/jetstream/runs/emitted-events.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory, type History } from "../../../platform/postgres/history/index.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { committedEvent } from "../committed-event.ts";
import { withJetStream } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

/** Events with a `delivery_ts` in the stream, in Postgres and at their listeners; test/e2e tests them from a component. */
const postgres = withMigratedPostgres();
const streams = withJetStream({ partitions: partitionCount });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const signingKey = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;

let database: Database;
let history: History;
const running: { stop(): Promise<void> }[] = [];
const posted: PostRequest[] = [];

beforeAll(async () => {
  database = createDatabase({ url: postgres.urlOf("delivery") });
  history = createHistory(database);
});
afterEach(async () => {
  for (const delivery of running.splice(0)) await delivery.stop();
  posted.length = 0;
});
afterAll(() => database.close());

async function start(change: (ports: DeliveryPorts) => Partial<DeliveryPorts> = () => ({})): Promise<{ stop(): Promise<void> }> {
  const ports = deliveryPorts({
    connection: streams.connection,
    history: createDeliveryHistory(database, { ...(await recordedRuns(streams.connection)), kept: { events: 100, logs: 100 } }),
    poster: {
      post: (request) =>
        Promise.resolve(void posted.push(request)).then(() => ({ outcome: "answered", status: 200, retryAfter: undefined })),
    },
    secrets: { open: (sealed) => Promise.resolve(sealed) },
    log: silent,
  });
  const config = {
    deliveryDeadlineMs: 600_000,
    attemptsPerWebhook: 4,
    maxDirectListeners: 16,
    attemptTimeoutMs: 600_000,
    nextAttempt: () => 200,
  };
  const delivery = await startDelivery(config, { ...ports, ...change(ports) });
  running.push(delivery);
  return delivery;
}

const routes = () => new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route);
let number = 0;
const newSource = (): string => `dc_scheduled${++number}`;

async function subscribe(source: string, more: Partial<Route> = {}): Promise<string> {
  const subscription = `sub_s${++number}`;
  const listener = { kind: "webhook", id: `wh_s${number}`, url: `http://host/${number}`, keys: [signingKey] } as const;
  await routes().put(subscription, { subscription, owner: "u_1", emitter: source, channel: "", listener, ...more });
  return subscription;
}

const event = (n: number, dueInMs: number, more: Partial<CommittedEvent> = {}): CommittedEvent =>
  committedEvent(`${Date.now()}-${n}`, {
    emitId: `em${++number}`,
    deliverAt: Date.now() + dueInMs,
    payload: JSON.stringify({ n }),
    ...more,
  });

async function commit(source: string, events: readonly CommittedEvent[]): Promise<void> {
  const run = { id: `r_s${++number}`, trigger: "http", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
  const given: Commit = { source, owner: "u_1", deployment: "d_1", run, events, logs: [], error: null, state: emptyState };
  const { outcome } = await appendCommit(
    streams.connection,
    { source, owner: "u_1", partition: partitionOf(source) },
    JSON.stringify(given),
    0,
  );
  expect(outcome).toBe("stored");
}

const all = { limit: 100, cursor: null };
const listed = async (source: string) => (await history.pageScheduled(source, all)).items;
const stored = async (source: string) => (await history.pageEvents(source, all)).items;
const bodies = (): readonly string[] => posted.map(({ body = "" }) => body);
const scheduledMessages = async (): Promise<number> => (await streams.connection.manager.streams.info(names.deliveries)).state.messages;

describe("an event with delivery_ts", () => {
  it("is listed until it is due, then delivered to the listeners of that time and added to the history", async () => {
    const source = newSource();
    const ended = await subscribe(source);
    await start();
    const announced: unknown[] = [];
    const end = followEmitted(streams.connection, (one) => announced.push(one));
    await streams.connection.nats.flush();
    const given = event(1, 1_200, { dedupeId: "task" });
    await commit(source, [given, event(2, -5)]);
    const run = `r_s${number}`;
    await until(async () => (await listed(source)).length === 1 && posted.length === 1, "it is listed, and the other is delivered");
    expect((await listed(source))[0]).toMatchObject({ id: given.id, dedupeId: "task", deliverAt: given.deliverAt });
    expect((await stored(source)).map(({ payload }) => payload)).toEqual(['{"n":2}']);
    await routes().delete(ended);
    await subscribe(source);
    await until(() => posted.length === 2, "it is delivered");
    expect(Date.now()).toBeGreaterThanOrEqual(given.deliverAt ?? 0);
    expect(posted[1]).toMatchObject({ body: '{"n":1}', headers: { "webhook-id": given.emitId, "x-pd-emitter-id": source } });
    await until(async () => (await listed(source)).length === 0, "it is listed no more");
    expect((await stored(source)).map(({ id, payload }) => [id.split("-")[0], payload])).toEqual([
      [String(given.deliverAt), '{"n":1}'],
      [expect.any(String), '{"n":2}'],
    ]);
    await until(() => announced.length === 1, "it is announced to live streams");
    const [emitted] = await stored(source);
    const { emitId } = given;
    const ids = { emitId, eventId: emitted?.id, run };
    expect(announced).toEqual([{ source, owner: "u_1", ...ids, channel: "", dedupeId: "task", ts: 1, payload: '{"n":1}' }]);
    end();
    await until(async () => (await scheduledMessages()) === 0, "nothing of it is left in the stream");
  });

  it("is not delivered when it was deleted before it was due", async () => {
    const source = newSource();
    await subscribe(source);
    await start();
    const [first, second, third] = [event(1, 1_500), event(2, 1_500), event(3, 1_500)];
    await commit(source, [first, second, third]);
    await until(async () => (await listed(source)).length === 3, "all are listed");
    await history.deleteScheduled(source, { startId: second.id, endId: second.id });
    await history.deleteScheduled(source, { startId: third.id });
    await until(() => posted.length === 1, "the first is delivered");
    await until(async () => (await scheduledMessages()) === 0, "nothing is left in the stream");
    expect([bodies(), (await stored(source)).length]).toEqual([['{"n":1}'], 1]);
  });

  it("is not delivered when its source was deleted", async () => {
    const source = newSource();
    await subscribe(source);
    await start();
    await commit(source, [event(1, 800)]);
    await until(async () => (await listed(source)).length === 1, "it is listed");
    const operator = createDatabase({ url: postgres.urlOf("operator") });
    await createHistory(operator).deleteSource(source);
    await operator.close();
    await until(async () => (await scheduledMessages()) === 0, "nothing is left in the stream");
    expect(bodies()).toEqual([]);
  });

  it("waits until its commit is recorded, and while Postgres is away", async () => {
    const source = newSource();
    await subscribe(source);
    const asked: string[] = [];
    const away = (): never => {
      throw new Unavailable("Postgres is away", { code: "database_unavailable" });
    };
    await start(({ history: whole, deliveries }) => ({
      history: {
        ...whole,
        scheduledEvent: async (...given) => {
          asked.push("asked");
          return asked.length === 1 ? away() : asked.length === 2 ? "unrecorded" : await whole.scheduledEvent(...given);
        },
      },
      // Instead of waiting 5 s.
      deliveries: {
        ...deliveries,
        schedule: (...[a, b, text, atMs, id]) => deliveries.schedule(a, b, text, Math.min(atMs, Date.now() + 300), id),
      },
    }));
    await commit(source, [event(1, 250)]);
    await until(() => posted.length === 1, "it is delivered");
    expect(asked).toHaveLength(3);
    await until(async () => (await stored(source)).length === 1, "it is in the history");
  });

  it("is delivered again under its id, and stored once, when delivery crashes before it is in the history", async () => {
    const source = newSource();
    await subscribe(source);
    const first = await start(({ history: whole }) => ({
      history: { ...whole, emitScheduledEvent: () => Promise.reject(new Error("the process is about to die")) },
    }));
    const given = event(1, 300);
    await commit(source, [given]);
    await until(() => posted.length === 1, "it is delivered");
    await first.stop();
    await start();
    // NATS redelivers it when the ack wait is over.
    await until(async () => (await stored(source)).length === 1, "it is in the history");
    expect(posted.map(({ headers }) => headers["webhook-id"])).toEqual([given.emitId, given.emitId]);
    expect(await listed(source)).toEqual([]);
  });
});

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Route, RouteListener } from "../../../domain/source/deployment.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { buckets, partitionCount, streams } from "../../../domain/subjects.ts";
import { formatSigningKey } from "../../../domain/delivery/webhook-signature.ts";
import { startDelivery, type StartedDelivery } from "../../../delivery/start.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { appendCommit, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { roleCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { parseCredentials } from "../../../platform/process/nats/nats-connection.ts";
import { storedNatsRoot, natsKeysOf } from "../../../platform/process/nats/nats-keys.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { startNatsCluster, type TestNatsCluster } from "../../support/nats/nats-cluster.ts";
import { disorder } from "../../support/order.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { streamOptions } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { startEndpoint, type Endpoint } from "../ordered-support.ts";
import { withDatabase } from "../postgres/support.ts";

const database = withDatabase("delivery");
const waitMs = 60_000;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const source = "dc_replicated";
const ref = { source, owner: "u_1", partition: partitionOf(source) };
const signingKey = formatSigningKey(randomBytes(32));

let directory: TemporaryDirectory;
let servers: TestNatsCluster;
let admin: Connection;
let deliverer: Connection;
let poster: WebhookClient;
let delivery: StartedDelivery;
let ordered: Endpoint;
let plain: Endpoint;

beforeAll(async () => {
  directory = await temporaryDirectory("replicated");
  const keys = natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root")));
  servers = await startNatsCluster(directory.path, keys);
  admin = await connect({ server: servers.connection, name: "admin" });
  await setUpStreams(admin, { ...streamOptions, replicas: 3, partitions: partitionCount });
  [ordered, plain] = [await startEndpoint(), await startEndpoint()];
  const routes = new Bucket<Route>(admin, buckets.routes, (json) => json as Route);
  for (const [id, { url }] of [["wh_ordered", ordered] as const, ["wh_plain", plain] as const]) {
    const listener: RouteListener = { kind: "webhook", id, url, keys: [signingKey], ordered: id === "wh_ordered" };
    // The source's own entry, and that of its subscription.
    for (const [subscription, emitter] of [[id, id] as const, [`sub_${id}`, source] as const])
      await routes.put(subscription, { subscription, owner: ref.owner, emitter, channel: "", listener });
  }
  const { servers: addresses } = servers.connection;
  deliverer = await connect({
    server: { servers: addresses, ...parseCredentials(await roleCredentials(keys, "delivery")) },
    name: "delivery",
  });
  poster = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.1/32"] }), timeoutMs: 5_000, connections: 16 });
  const history = createDeliveryHistory(database, { ...(await recordedRuns(deliverer)), kept: { events: 10_000, logs: 100 } });
  const secrets = { open: async (sealed: string) => sealed };
  delivery = await startDelivery(
    { deliveryDeadlineMs: 1_000, attemptsPerWebhook: 16, maxDirectListeners: 16, attemptTimeoutMs: 5_000, nextAttempt: () => 200 },
    deliveryPorts({ connection: deliverer, history, poster, secrets, log: silent }),
  );
});
afterAll(async () => {
  await delivery.stop();
  await Promise.all([deliverer, admin, poster, ordered, plain].map((each) => each.close()));
  await servers.stop();
  await directory.remove();
});

let sequence = 0;
/** A run that emits one number. Stored once and durable when it returns, like a runner's commit. */
async function commit(n: number): Promise<void> {
  const at = 1_700_000_000_000 + n;
  const event = { id: `${at}-0`, emitId: `em${n}`, channel: "", dedupeId: null, summary: null, ts: at, payload: `{"n":${n}}` };
  const run = { id: `r_${n}`, trigger: "http", generation: 1, startedAt: at, durationMs: 1, cpuMs: 1, result: null } as const;
  const text: Commit = { source, owner: ref.owner, deployment: "d_1", run, events: [event], logs: [], error: null, state: emptyState };
  const encoded = JSON.stringify(text);
  for (;;) {
    try {
      const appended = await appendCommit(admin, ref, encoded, sequence);
      if (appended.outcome === "stored") return void (sequence = appended.sequence);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
    const last = await lastCommit(admin, ref).catch(() => undefined);
    if (last?.text === encoded) return void (sequence = last.sequence);
    await sleep(50);
  }
}

/** One webhook refuses every 20th event once, the other every 30th: so some deliveries are always queued, and some are messages of their own. */
function failSome(endpoint: Endpoint, each: number): void {
  const refused = new Set<string>();
  endpoint.answer = (n) => {
    if (Number(n) % each !== 0 || refused.has(n)) return 200;
    refused.add(n);
    return 503;
  };
}

const left = async (stream: string) => (await admin.manager.streams.info(stream)).state.messages;

/** Method: the three servers are killed in turn; each stays away until deliveries have continued, then rejoins the streams. */
it("continues in order and loses nothing while each of three NATS servers is killed in turn", async () => {
  failSome(ordered, 20);
  failSome(plain, 30);
  let [sent, isOver] = [0, false];
  const sending = (async () => {
    for (; !isOver; sent++) {
      await commit(sent);
      await sleep(20);
    }
  })();
  const untilMore = async (what: string): Promise<void> => {
    const [inOrder, others] = [ordered.taken.length, plain.taken.length];
    await until(() => ordered.taken.length > inOrder + 30 && plain.taken.length > others + 30, what, { maxWaitMs: waitMs });
  };
  for (const n of servers.servers.keys()) {
    await untilMore(`deliveries go on before server ${n} is killed`);
    const bringBack = await servers.takeAway(n);
    await untilMore(`deliveries go on without server ${n}`);
    await bringBack();
    await servers.untilCaughtUp(n);
  }
  isOver = true;
  await sending;
  const expected = Array.from({ length: sent }, (_, n) => String(n));
  const missing = ({ taken }: Endpoint) => expected.filter((n) => !taken.includes(n));
  await until(() => missing(ordered).length === 0 && missing(plain).length === 0, "all are taken", { maxWaitMs: waitMs });
  expect(disorder(expected, ordered.heard)).toBeUndefined();
  // No delivery process was killed: each event is accepted once, and only refused ones are repeated.
  expect(ordered.taken).toEqual(expected);
  expect(ordered.maxConcurrent()).toBe(1);
  await until(async () => (await left(streams.deliveries)) === 0, "nothing is left", { maxWaitMs: waitMs });
  for (const webhook of ["wh_ordered", "wh_plain"])
    expect((await createDeliveryRecords(database).pageDeadLetters(webhook, { limit: 1, cursor: null })).total).toBe(0);
  const recorded = async () =>
    (await createHistory(database, { kept: { events: 10_000, logs: 100 } }).pageEvents(source, { limit: 1, cursor: null })).total;
  await until(async () => (await recorded()) === sent, "all are in the history", { maxWaitMs: waitMs });
});

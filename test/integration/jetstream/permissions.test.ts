import { createHash } from "node:crypto";
import { join } from "node:path";
import { encodeAccount, newScopedSigner } from "@nats-io/jwt";
import { credsAuthenticator, connect as dial } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import {
  deliverSubject,
  deploymentKey,
  invokeSubject,
  packSubject,
  runnerConsumer,
  partitionCount,
  retrySubject,
  runSubject,
  streams,
} from "../../../domain/subjects.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { openLink, type Link } from "../../../platform/jetstream/connection/link.ts";
import { createInstallation, listStreams } from "../../../platform/jetstream/members/installation.ts";
import { announce, deliveryReplicas, runnersOf, watchMembers } from "../../../platform/jetstream/members/group.ts";
import { deploymentEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { openBundleStore } from "../../../platform/jetstream/bundles/bundle-store.ts";
import { openBlobStore } from "../../../platform/jetstream/bundles/object-store.ts";
import { readOwnerBytes } from "../../../platform/jetstream/bundles/owner-bytes.ts";
import { createStoredBundles } from "../../../platform/jetstream/bundles/stored-bundles.ts";
import { importedName } from "../../../platform/jetstream/connection/permissions.ts";
import { deleteCommits } from "../../../platform/jetstream/runs/commits.ts";
import { loadFloors, publishFloors } from "../../../platform/jetstream/runs/floors.ts";
import { servePoolRequests, waitForPool } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { createOwnerLimits } from "../../../platform/jetstream/buckets/quotas.ts";
import { readLag } from "../../../platform/jetstream/deliveries/lag.ts";
import { StrandedDeliveries } from "../../../platform/jetstream/deliveries/stranded-deliveries.ts";
import { findScheduled, readDue, requestRedelivery } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { endSchedule, publishScheduled } from "../../../platform/jetstream/schedules.ts";
import { createSourceBacklogs } from "../../../platform/jetstream/invocations/source-backlogs.ts";
import { readWebhookBacklog } from "../../../platform/jetstream/deliveries/webhook-backlog.ts";
import { requestWebhookTest, serveWebhookTests } from "../../../platform/jetstream/requests/webhook-test-requests.ts";
import { createOrderedQueueStore } from "../../../platform/jetstream/deliveries/ordered-queues.ts";
import { createWorkflowQueues } from "../../../platform/jetstream/deliveries/workflow-queues.ts";
import { publishReplay, readReplays } from "../../../platform/jetstream/deliveries/replays.ts";
import { setUpPool } from "../../../platform/jetstream/invocations/pool-consumers.ts";
import { areSetUp, setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { builderCredentials, poolCredentials, roleCredentials, systemCredentials } from "../../../platform/process/nats/nats-accounts.ts";
import { credentialsForPool, removePoolAccount, updatePermanentAccounts } from "../../../platform/process/nats/nats-claims.ts";
import { parseCredentials } from "../../../platform/process/nats/nats-connection.ts";
import { storedNatsRoot, natsKeysOf, type NatsKeys } from "../../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import { createRunnerPorts } from "../../../platform/jetstream/invocations/runner-ports.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { contentOf, streamOptions } from "./support.ts";
import { until } from "../../support/until.ts";
import type { IntakeMessage } from "../../../runner/intake/ports.ts";

/** Each role's work with its own credentials on a real server; rights.test.ts compares the credentials with the table of rights. */
const owner = "u_one";
const source = "dc_rights";
const partition = partitionOf(source);
let directory: TemporaryDirectory;
let server: NatsServer;
let keys: NatsKeys;
let admin: Connection;
let system: Link;
let runner: Connection;
const open: { close(): Promise<void> }[] = [];

async function as(role: string, credentials: string): Promise<Connection> {
  const connection = await connect({ server: { servers: server.url, ...parseCredentials(credentials) }, name: role });
  open.push(connection);
  return connection;
}

beforeAll(async () => {
  directory = await temporaryDirectory("rights");
  keys = natsKeysOf(await storedNatsRoot(join(directory.path, "keys", "nats.root")));
  server = await startNats({ dataDirectory: join(directory.path, "nats"), keys, binary: await natsBinary() });
  const operator = await as("operator", await roleCredentials(keys, "operator"));
  await setUpStreams(operator, { ...streamOptions, partitions: partitionCount });
  system = await openLink({ server: { servers: server.url, credentials: await systemCredentials(keys) }, name: "system" });
  open.push(system);
  for (const pool of ["own", "other"]) await setUpPool(operator, { pool });
  const credentials = await credentialsForPool(system, keys, { pool: "own", owner });
  await credentialsForPool(system, keys, { pool: "other", owner: "u_two" });
  runner = await as("runner", credentials);
  admin = await connect({ server: server.connection, name: "admin", requestTimeoutMs: 60_000 });
  open.push(admin);
  const entries = deploymentEntries(admin);
  for (const pool of ["own", "other", "default"]) await entries.put(deploymentKey(pool, source), { source, pool } as Deployment);
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close().catch(() => undefined)));
  await server.stop();
  await directory.remove();
});

describe("a runner of a pool with an owner", () => {
  it("finds its pool set up, and reads its invocations", async () => {
    expect(await areSetUp(runner)).toBe(true);
    await waitForPool(runner, "own", 60_000);
    const texts: string[] = [];
    const onMessage = (message: IntakeMessage): void => {
      texts.push(message.text);
      message.ack();
    };
    const reading = await createRunnerPorts(runner, "own").intake.read(partition, onMessage, () => true);
    for (let n = 0; n < 20; n++)
      await admin.publisher.publish(n % 2 === 0 ? invokeSubject("own", partition, source) : packSubject("own", partition), `m${n}`);
    await until(() => texts.length === 20, "all invocations");
    expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`));
    await until(async () => (await admin.manager.streams.info("INVOCATIONS")).state.messages === 0, "they are acked");
    await reading.stop();
  });

  it("has missing consumers of its pool created by delivery", async () => {
    const delivery = await as("delivery", await roleCredentials(keys, "delivery"));
    const serving = await servePoolRequests(delivery);
    for (let n = 0; n < partitionCount; n++) await admin.manager.consumers.delete("INVOCATIONS", runnerConsumer("own", n));
    await waitForPool(runner, "own", 60_000);
    await serving.stop();
    expect((await admin.manager.consumers.info("INVOCATIONS", runnerConsumer("own", 0))).config.mem_storage).toBe(true);
  });

  it("reads its deployments and their changes, extends histories, responds, and sees the other members of its pool", async () => {
    const ports = createRunnerPorts(runner, "own");
    expect(await ports.deployments.get(source)).toMatchObject({ pool: "own" });
    const changed: (string | undefined)[] = [];
    await ports.deployments.onChange((key) => changed.push(key));
    await deploymentEntries(admin).put(deploymentKey("other", source), { source, pool: "other" } as Deployment);
    await deploymentEntries(admin).put(deploymentKey("own", source), { source, pool: "own" } as Deployment);
    await until(() => changed.length > 0, "a change");
    expect(changed).toEqual([source]);
    expect(await ports.commits.append(owner, source, "{}", 0)).toMatchObject({ outcome: "stored" });
    expect(await ports.commits.append(owner, source, "{}", 0)).toMatchObject({ outcome: "refused" });
    expect((await ports.commits.last(owner, source)).commit).toBe("{}");
    const reported: string[] = [];
    const announced = await announce(runner, runnersOf("own"), "r1");
    const members = await watchMembers(runner, runnersOf("own"), (runners) => reported.push(runners.join()));
    await until(() => reported.at(-1) === "r1", "itself");
    await announced.leave();
    await until(() => reported.at(-1) === "", "no member");
    await members.stop();
    const heard: string[] = [];
    admin.nats.subscribe("answer.t.r_1", { callback: (_, message) => void heard.push(message.string()) });
    await admin.nats.flush();
    runner.nats.publish("answer.t.r_1", "yes");
    await until(() => heard.length === 1, "the answer");
  });

  it("reads until when its own owner is over quota, and not when other owners are", async () => {
    const counting = createOwnerLimits(await as("delivery", await roleCredentials(keys, "delivery")));
    const ports = createRunnerPorts(runner, "own");
    const changed: (string | undefined)[] = [];
    const following = await ports.quotas.onChange((key) => changed.push(key));
    const end = Date.now() + 3_600_000;
    await counting.block("u_two", end);
    await counting.block(owner, end);
    await until(() => changed.length === 1, "a change");
    const blocked = await counting.list(end - 1);
    expect([await ports.quotas.blockedUntil(owner), blocked]).toEqual([end, expect.arrayContaining([owner, "u_two"])]);
    await expect(ports.quotas.blockedUntil("u_two")).rejects.toThrow("QUOTAS cannot be read");
    await counting.unblock(owner, end - 1_000);
    await until(() => changed.length === 2, "another change");
    expect([changed, await ports.quotas.blockedUntil(owner)]).toEqual([[owner, owner], end - 1_000]);
    expect(await counting.list(end - 1)).not.toContain(owner);
    await following.stop();
  });

  it("gets responses to its requests from the delivery role", async () => {
    const requests = await servePoolRequests(await as("delivery", await roleCredentials(keys, "delivery")));
    await expect(createRunnerPorts(runner, "own").moves.move({ seq: 1, index: 0 })).resolves.not.toThrow();
    await requests.stop();
  });

  it("asks the delivery role how much of STATE its owner holds, and of no other owner", async () => {
    const requests = await servePoolRequests(await as("delivery", await roleCredentials(keys, "delivery")));
    const { states, commits } = createRunnerPorts(runner, "own");
    await commits.append(owner, "dc_held", "x".repeat(10_000), 0);
    await admin.manager.streams.update("STATE", { max_bytes: 1_000_000 });
    expect(await states?.usage(owner, 0)).toMatchObject({ usage: { maxBytes: 750_000 }, bytes: undefined });
    await until(async () => ((await states?.usage(owner, 1_000_000))?.bytes ?? 0) > 10_000, "STATE has the commit");
    await expect(states?.usage("u_two", 0)).rejects.toThrow("no delivery process answers");
    await admin.manager.streams.update("STATE", { max_bytes: -1 });
    await requests.stop();
  });

  it("extends no history that the operator deletes", async () => {
    const operator = await as("operator", await roleCredentials(keys, "operator"));
    const { commits } = createRunnerPorts(runner, "own");
    await commits.append(owner, "dc_deleted", "late", 0);
    await deleteCommits(operator, { owner, source: "dc_deleted", partition: partitionOf("dc_deleted") });
    expect(await commits.last(owner, "dc_deleted")).toEqual({ commit: undefined, sequence: 0 });
    await commits.append(owner, "dc_deleted", "later", 0);
    await commits.endDeleted(owner, "dc_deleted");
    expect(await commits.append(owner, "dc_deleted", "again", 0)).toEqual({ outcome: "refused" });
  });

  it("reads bundles that the builder wrote", async () => {
    const bytes = Buffer.alloc(1_500_000, "x");
    const hash = createHash("sha256").update(bytes).digest("hex");
    const builder = await as("builder", await builderCredentials(keys));
    await openBlobStore(builder).put(hash, bytes);
    expect(Buffer.compare(await openBlobStore(runner).get(hash), bytes)).toBe(0);
  });

  it("does not reach bundles that the operator deletes", async () => {
    const [text, map] = [Buffer.from("export default 1"), Buffer.from("{}")];
    const hash = createHash("sha256").update(text).digest("hex");
    const builder = openBundleStore(await as("builder", await builderCredentials(keys)));
    await builder.store({ hash, text, map }, "u_charged");
    expect(await builder.keep(hash)).toBe(true);
    const operator = await as("operator", await roleCredentials(keys, "operator"));
    const bundles = createStoredBundles(operator, 0);
    const stored = (await bundles.list()).find((each) => each.hash === hash);
    expect([stored?.owner, (await readOwnerBytes(operator, "u_charged")).bytes]).toEqual(["u_charged", text.length + map.length]);
    expect((await bundles.deployed()).map((each) => each.hash)).not.toContain(hash);
    expect(stored && (await bundles.delete(stored))).toBe(true);
    await bundles.deleteOtherParts([], 0);
    await bundles.correctCharges(new Map());
    expect((await readOwnerBytes(operator, "u_charged")).bytes).toBe(0);
    await expect(openBlobStore(runner).get(hash)).rejects.toMatchObject({ code: "not_found" });
  });

  /** The requester chooses the reply subject, and no permission checks it. */
  it.each([
    "$JS.API.STREAM.DELETE.RUNS",
    "$JS.API.STREAM.PURGE.STATE",
    invokeSubject("other", 0, source),
    `$KV.DEPLOYMENTS.other.${source}`,
    "$KV.ROUTES.sub_1",
  ])("cannot redirect a response to '%s'", async (reply) => {
    const credentials = await credentialsForPool(system, keys, { pool: "own", owner });
    const raw = await dial({ servers: server.url, authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) });
    const before = await contentOf(admin);
    await admin.manager.streams.add({ name: "CONTROL", subjects: ["control"] });
    const ask = (subject: string, payload = ""): void => raw.publish(importedName(subject), payload, { reply });
    ask(`$JS.API.DIRECT.GET.RUNS.${runSubject(partition, owner, source)}`);
    ask(`$JS.API.DIRECT.GET.RUNS.${runSubject(partition, owner, "dc_none")}`);
    ask("$JS.API.CONSUMER.MSG.NEXT.INVOCATIONS.runner-own-0", JSON.stringify({ batch: 1, no_wait: true }));
    ask("$JS.API.STREAM.INFO.OBJ_BUNDLES");
    await raw.flush();
    // A role with the rights can do it. When this later request is done, the earlier ones would be done too.
    admin.nats.publish(`$JS.API.DIRECT.GET.RUNS.${runSubject(partition, owner, "dc_none")}`, "", {
      reply: "$JS.API.STREAM.DELETE.CONTROL",
    });
    const isThere = (name: string): Promise<boolean> =>
      admin.manager.streams.info(name).then(
        () => true,
        () => false,
      );
    await until(async () => !(await isThere("CONTROL")), "the order of one who may is carried out");
    expect(await contentOf(admin)).toBe(before);
    await raw.close();
  });
});

describe("a runner of the default pool", () => {
  it("may extend any owner's history, and can neither read another pool nor invoke", async () => {
    const everybodys = await as("runner", await poolCredentials(keys, { pool: "default" }));
    expect(await createRunnerPorts(everybodys, "default").commits.append("u_three", source, "{}", 0)).toMatchObject({ outcome: "stored" });
    for (const subject of [invokeSubject("own", 0, source), `$JS.API.DIRECT.GET.KV_DEPLOYMENTS.$KV.DEPLOYMENTS.own.${source}`])
      await expect(everybodys.nats.request(subject, "", { timeout: 150 })).rejects.toThrow();
  });
});

describe("the API and delivery", () => {
  it("exchange redeliveries and tests of webhooks", async () => {
    const [asker, deliverer] = [
      await as("api", await roleCredentials(keys, "api")),
      await as("delivery", await roleCredentials(keys, "delivery")),
    ];
    const asked: unknown[] = [];
    const reading = await readDue(deliverer, "delivery", {
      onDue: () => undefined,
      onEvent: () => undefined,
      onRequest: (request, ack) => {
        asked.push(request);
        ack();
      },
    });
    const schedule = { kind: "at", atMs: Date.now() + 3_600_000 } as const;
    const [subject, target] = [retrySubject("wh_1", "em_1.sub_1"), deliverSubject("wh_1", "em_1.sub_1")];
    await publishScheduled(deliverer.publisher, { subject, target, schedule, body: "later" });
    expect(await findScheduled(deliverer, "wh_1", "em_1.sub_1")).toBe("later");
    expect(await findScheduled(deliverer, "wh_1", "em_2.sub_1")).toBeUndefined();
    expect(await new StrandedDeliveries(deliverer, "delivery").recover(Date.now())).toBe(0);
    await requestRedelivery(asker, { webhook: "wh_1", deliveries: ["em_1.sub_1"] });
    await until(() => asked.length === 1, "the request");
    expect(asked).toEqual([{ webhook: "wh_1", deliveries: ["em_1.sub_1"] }]);
    const test = { webhook: "wh_1", owner, emitId: "em_1", payload: "{}" };
    const tests = await serveWebhookTests(deliverer, async () => ({ outcome: "not-ready" }));
    expect(await requestWebhookTest(asker.nats, test)).toEqual({ outcome: "not-ready" });
    await tests.stop();
    await endSchedule(deliverer, streams.deliveries, subject);
    expect(await findScheduled(deliverer, "wh_1", "em_1.sub_1")).toBeUndefined();
    await reading.stop();
  });
});

describe("the queue of a workflow", () => {
  it("is written and emptied by the delivery role", async () => {
    const delivery = await as("delivery", await roleCredentials(keys, "delivery"));
    const queues = createWorkflowQueues(delivery);
    await queues.store({ workflow: "p_1", owner: "u_1" }, "one", "em_1.sub_1");
    await queues.store({ workflow: "p_1", owner: "u_1" }, "two", "em_2.sub_1");
    const [one, two] = [await queues.findNext("p_1", 1), await queues.findNext("p_1", 2)];
    expect([await queues.listQueued(), one?.text, two?.text]).toEqual([["p_1"], "one", "two"]);
    await queues.removeUpTo("p_1", one?.sequence ?? 0);
    expect([await queues.findNext("p_1", 1), await queues.findNext("p_1", 3)]).toEqual([two, undefined]);
    await queues.removeUpTo("p_1", two?.sequence ?? 0);
    expect(await queues.listQueued()).toEqual([]);
  });
});

describe("the queue of an ordered webhook", () => {
  const key = { partition: 3, webhook: "wh_1", source };

  it("is written, read and emptied by the delivery role", async () => {
    const queues = createOrderedQueueStore(await as("delivery", await roleCredentials(keys, "delivery")));
    const one = (await queues.append(key, "one", 2, 0)) ?? 0;
    expect(await queues.append(key, "another", 1, 0)).toBeUndefined();
    const two = (await queues.append(key, "two", 1, one)) ?? 0;
    const [first, last] = [
      { seq: one, text: "one" },
      { seq: two, text: "two" },
    ];
    expect(await queues.list(3)).toEqual([key]);
    expect([await queues.findNext(key, 1), await queues.findNext(key, one + 1), await queues.findLast(key)]).toEqual([first, last, last]);
    await queues.remove(one);
    await queues.remove(one);
    expect(await queues.findNext(key, 1)).toEqual(last);
    await queues.removeAll(3, "wh_1");
    expect([await queues.list(3), await queues.findLast(key)]).toEqual([[], undefined]);
    expect(await queues.append(key, "again", 1, two)).toBeUndefined();
    expect(await queues.append(key, "again", 1, 0)).toBeGreaterThan(two);
    await queues.removeAll(3, "wh_1");
  });

  it("can be read by the API, like scheduled events", async () => {
    const deliverer = await as("delivery", await roleCredentials(keys, "delivery"));
    const queues = createOrderedQueueStore(deliverer);
    const head = { id: "em_3.sub_1", listener: "wh_2", subscription: "sub_1", event: { source, eventId: "1-0", channel: "" }, attempt: 1 };
    await queues.append({ ...key, webhook: "wh_2" }, JSON.stringify([head]), 1, 0);
    const schedule = { kind: "at", atMs: Date.now() + 3_600_000 } as const;
    const [subject, target] = [retrySubject("wh_2", head.id), deliverSubject("wh_2", head.id)];
    await publishScheduled(deliverer.publisher, { subject, target, schedule, body: JSON.stringify({ ...head, attempt: 2 }) });
    const backlog = {
      due: 0,
      scheduled: 1,
      nextAt: schedule.atMs,
      queued: 1,
      head: { delivery: head.id, attempts: 1, nextAt: schedule.atMs },
    };
    expect(await readWebhookBacklog(await as("api", await roleCredentials(keys, "api")), "wh_2")).toMatchObject(backlog);
    expect(await queues.listScheduled("wh_2")).toEqual(new Set([head.id]));
    await queues.removeAll(3, "wh_2");
    await endSchedule(deliverer, streams.deliveries, subject);
  });
});

describe("the backlogs of sources", () => {
  it.each(["api", "operator"] as const)("are read by the role %s", async (role) => {
    const [subject, pack] = [packSubject("own", 0), encodePack([JSON.stringify({ source, trigger: "event" })])];
    await admin.publisher.publish(subject, pack);
    const counts = await createSourceBacklogs(await as(role, await roleCredentials(keys, role))).read();
    expect(counts.get(source)).toBe(1);
    await admin.manager.streams.purge("INVOCATIONS", { filter: subject });
  });
});

describe("the state of the installation", () => {
  const installationBy = (connection: Connection) => createInstallation(connection, () => readLag(connection, "delivery"));

  it("is read by the API: all streams, live runners by pool, live replicas of delivery", async () => {
    const runner = await announce(admin, runnersOf("own"), "r1", { report: async () => ({ memoryShare: 0.5 }) });
    const replica = await announce(admin, deliveryReplicas, "d1", { report: async () => ({ holds: [3] }) });
    const report = await installationBy(await as("api", await roleCredentials(keys, "api"))).read();
    expect(report.streams.map(({ name }) => name)).toEqual(expect.arrayContaining(["DELIVERIES", "INVOCATIONS", "RUNS", "STATE"]));
    expect(report.runners).toContainEqual({ id: "r1", pool: "own", memoryShare: 0.5, fullSources: 0 });
    expect(report.deliveries).toContainEqual({ id: "d1", partitions: [3] });
    await Promise.all([runner.leave(), replica.leave()]);
  });

  it("has what waits once delivery has started", async () => {
    const deliverer = await as("delivery", await roleCredentials(keys, "delivery"));
    expect((await listStreams(deliverer)).map(({ name }) => name)).toContain("OBJ_BUNDLES"); // For the samples of disks.
    await publishFloors(deliverer, await loadFloors(deliverer));
    const reading = await readDue(deliverer, "delivery", { onDue: () => undefined, onEvent: () => undefined, onRequest: () => undefined });
    const subject = invokeSubject("own", partition, source);
    const installation = installationBy(await as("api", await roleCredentials(keys, "api")));
    expect((await installation.read()).lag).toMatchObject({ oldestInvocationAt: null });
    const before = Date.now();
    await admin.publisher.publish(subject, "{}");
    const { lag } = await installation.read();
    expect(lag).toEqual({
      oldestInvocationAt: expect.any(Number),
      unrouted: expect.any(Number),
      due: 0,
      scheduled: 0,
      ordered: 0,
      unrecorded: expect.any(Number),
    });
    expect(lag?.oldestInvocationAt).toBeGreaterThan(before - 5_000);
    await admin.manager.streams.purge("INVOCATIONS", { filter: subject });
    await reading.stop();
  });
});

describe("a replay", () => {
  it("is requested by the API, and read by the delivery role", async () => {
    const texts: string[] = [];
    const api = await as("api", await roleCredentials(keys, "api"));
    const reading = await readReplays(await as("delivery", await roleCredentials(keys, "delivery")), (text, done) => {
      texts.push(text);
      done();
    });
    const replayed = { replay: { id: "rp_1", at: 1 }, eventId: "1-0", source, owner, channel: "", ts: 1, payload: "1" };
    const emitIds = ["e1-rp_1", "e2-rp_1"];
    await publishReplay(
      api,
      emitIds.map((emitId) => ({ ...replayed, emitId })),
    );
    await until(() => texts.length === 2, "both are read");
    expect(texts.map((text) => (JSON.parse(text) as { readonly emitId: string }).emitId)).toEqual(emitIds);
    await until(async () => (await admin.manager.streams.info("DELIVERIES")).state.messages === 0, "they are acked");
    await reading.stop();
  });
});

describe("the server's accounts", () => {
  it("removes a pool's account with its connections, and accepts it when the pool is created again", async () => {
    const pool = { pool: "brief", owner };
    const credentials = await credentialsForPool(system, keys, pool);
    const madeAt = Math.floor(Date.now() / 1_000);
    const link = await openLink({ server: { servers: server.url, ...parseCredentials(credentials) }, name: "brief" });
    open.push(link);
    await removePoolAccount(system, keys, "brief");
    await removePoolAccount(system, keys, "brief");
    await until(() => link.status() !== "connected", "the connection is ended");
    await expect(as("brief", credentials)).rejects.toThrow(/authorization/i);
    // Tokens are dated to the second, and the server refuses those that it has received before.
    await until(() => Date.now() / 1_000 >= madeAt + 1, "the next second begins");
    await credentialsForPool(system, keys, pool);
    await until(() => link.status() === "connected", "the same credentials are taken");
    expect(await areSetUp(await as("brief", credentials))).toBe(true);
  });

  it("refuses to remove an account for an operator with other keys", async () => {
    const others = natsKeysOf(Buffer.alloc(32, 1).toString("base64url"));
    await expect(removePoolAccount(system, others, "own")).rejects.toThrow("not trusted");
  });

  it("leaves permanent accounts alone that have the rights of this version", async () => {
    const updates: string[] = [];
    const watched = system.nats.subscribe("$SYS.REQ.CLAIMS.UPDATE", { callback: (_, { subject }) => void updates.push(subject) });
    await updatePermanentAccounts(system, keys);
    await system.nats.flush();
    watched.unsubscribe();
    expect(updates).toEqual([]);
  });

  it("gives users the rights that an older version did not have, and those of other accounts stay connected", async () => {
    const builder = await as("builder", await builderCredentials(keys));
    const reported: string[] = [];
    const operator = await as("operator", await roleCredentials(keys, "operator"));
    operator.onStatus((status) => reported.push(status));
    const before = await contentOf(admin);
    const older = await encodeAccount(
      "BUILDER",
      keys.account("BUILDER"),
      {
        limits: { subs: -1, data: -1, payload: -1, conn: -1 },
        signing_keys: [newScopedSigner(keys.account("BUILDER builder"), "builder", { subs: -1, data: -1, payload: -1 })],
      },
      { signer: keys.operator },
    );
    await system.nats.request("$SYS.REQ.CLAIMS.UPDATE", older);
    const look = () => builder.nats.request(importedName("$JS.API.STREAM.INFO.OBJ_BUNDLES"), "", { timeout: 500 });
    await expect(look()).rejects.toThrow();
    await updatePermanentAccounts(system, keys);
    const mayLook = () =>
      look().then(
        () => true,
        () => false,
      );
    await until(mayLook, "it may look again");
    expect(await contentOf(admin)).toBe(before);
    expect(reported).toEqual([]);
  });
});

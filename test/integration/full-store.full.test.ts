import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, partitionCount, streams } from "../../domain/subjects.ts";
import { startDelivery } from "../../delivery/start.ts";
import { appendCommit, deleteCommits, lastCommit } from "../../platform/jetstream/runs/commits.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { createDatabase, type Database } from "../../platform/postgres/connection.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { deliveryPorts } from "../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../platform/jetstream/streams/stream-identity.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { deployment } from "../runner/support.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import { streamOptions, withJetStream, withPoolRequests } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** A small store, a runner and delivery; user code emits one event of the requested size. */
const mebibyte = 2 ** 20;
const storeBytes = 200 * mebibyte;
const eventBytes = 2 * mebibyte;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const postgres = withMigratedPostgres();
const nats = withJetStream({ partitions: partitionCount, storeBytes }, { maxFileStoreBytes: 2 * storeBytes });
withPoolRequests(nats);
let database: Database;
const running: { stop(signal: AbortSignal): Promise<void> }[] = [];

beforeAll(async () => {
  database = createDatabase({ url: postgres.urlOf("delivery") });
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop(AbortSignal.timeout(5_000));
});
afterAll(() => database.close());

async function startRecording(): Promise<void> {
  const history = createDeliveryHistory(database, { ...(await recordedRuns(nats.connection)), kept: { events: 10, logs: 10 } });
  const secrets = { open: (sealed: string) => Promise.resolve(sealed) };
  const poster = { post: () => Promise.reject(new Error("there are no webhooks")) };
  const ports = deliveryPorts({ connection: nats.connection, history, poster, secrets, log: silent });
  const config = {
    deliveryDeadlineMs: 600_000,
    attemptsPerWebhook: 4,
    maxDirectListeners: 16,
    attemptTimeoutMs: 600_000,
    nextAttempt: () => undefined,
  };
  running.push(await startDelivery(config, ports));
}

async function startEmitting(ran: Map<string, number>, log: object[], maxOwnerCommitBytes: number): Promise<Runner> {
  const noted = (fields: object): void => void log.push(fields);
  const runner = await startRunner(
    { runner: `r${Math.random()}`, pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 2 ** 20, maxOwnerCommitBytes },
    {
      ...createRunnerPorts(nats.connection, defaultPool),
      ...portsBesidePool(async ({ source, event }) => {
        ran.set(source, (ran.get(source) ?? 0) + 1);
        const emits = [{ payload: JSON.stringify("x".repeat(Number(event))), at: Date.now() }];
        return { outcome: "returned", result: null, emits, logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
      }),
      log: { info: noted, warn: noted, error: noted },
    },
  );
  running.push(runner);
  return runner;
}

async function deploy(source: string, owner: string): Promise<void> {
  await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, source), { ...deployment, source, owner, name: source });
}

async function invoke(source: string, bytes: number): Promise<void> {
  const pack = encodePack([JSON.stringify({ source, trigger: "event", event: bytes })]);
  await nats.connection.publisher.publish(invokeSubject(defaultPool, partitionOf(source), source), pack);
}

const runs = async () => (await nats.connection.manager.streams.info(streams.runs)).state;
const hasCommit = async (owner: string, source: string): Promise<boolean> =>
  (await lastCommit(nats.connection, { owner, source, partition: partitionOf(source) })).text !== undefined;

it("frees the bytes of a source that is deleted", async () => {
  const ref = { owner: "u_gone", source: "dc_gone", partition: partitionOf("dc_gone") };
  const before = (await runs()).bytes;
  await appendCommit(nats.connection, ref, "x".repeat(eventBytes), 0);
  const stateBytes = async () => (await nats.connection.manager.streams.info(streams.state)).state.bytes;
  const held = await stateBytes();
  await until(async () => (await stateBytes()) >= held && (await lastCommit(nats.connection, ref)).text !== undefined, "it is stored");
  await until(async () => (await nats.connection.manager.streams.info(streams.state)).state.messages > 0, "STATE has it");
  await deleteCommits(nats.connection, ref);
  expect((await runs()).bytes).toBeLessThanOrEqual(before);
  await until(async () => (await lastCommit(nats.connection, ref)).text === undefined, "its history is gone");
});

it("runs sources of other owners while one owner floods with large emits, and runs each of its invocations once", async () => {
  const floods = ["dc_flood1", "dc_flood2", "dc_flood3", "dc_flood4"];
  for (const source of floods) await deploy(source, "u_flood");
  for (let n = 0; n < 10; n++) await deploy(`dc_quiet${n}`, "u_quiet");
  const [ran, log]: [Map<string, number>, object[]] = [new Map(), []];
  await startRecording();
  await startEmitting(ran, log, 8 * mebibyte);
  const perSource = 25;
  for (let n = 0; n < perSource; n++) for (const source of floods) await invoke(source, eventBytes);
  for (let n = 0; n < 10; n++) {
    await invoke(`dc_quiet${n}`, 10);
    await until(() => hasCommit("u_quiet", `dc_quiet${n}`), `the run of another owner during the flood (${n})`);
  }
  await until(() => floods.every((source) => (ran.get(source) ?? 0) >= perSource), "the flood has run");
  await until(async () => (await runs()).bytes < (storeBytes * 34) / 100 / 3, "RUNS is trimmed");
  expect(floods.map((source) => ran.get(source))).toEqual(floods.map(() => perSource));
  expect(log).toContainEqual(expect.objectContaining({ op: "owner.park", reason: "owner_commits" }));
});

it("starts on a full store, which drains, and runs queued invocations once", async () => {
  const [ran, log]: [Map<string, number>, object[]] = [new Map(), []];
  await deploy("dc_waits", "u_waits");
  let filled = 0;
  const fill = (): Promise<unknown> =>
    appendCommit(nats.connection, { owner: "u_fill", source: `dc_fill${filled % 4}_${filled}`, partition: 0 }, "x".repeat(eventBytes), 0);
  await expect(
    (async () => {
      for (; filled < 200; filled++) await fill();
    })(),
  ).rejects.toMatchObject({ code: "store_full" });
  await nats.server.crash();
  await until(async () => (await runs().catch(() => undefined)) !== undefined, "NATS is back");
  await setUpStreams(nats.connection, { ...streamOptions, partitions: partitionCount, storeBytes });
  await startEmitting(ran, log, 8 * mebibyte);
  await invoke("dc_waits", 10);
  await until(() => (ran.get("dc_waits") ?? 0) > 0, "its user code has run");
  await startRecording();
  await until(() => hasCommit("u_waits", "dc_waits"), "its commit is stored once RUNS has drained");
  expect(ran.get("dc_waits")).toBe(1);
});

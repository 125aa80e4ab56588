import { afterEach, beforeAll, expect, it } from "vitest";
import { encodePack, type Invocation } from "../../domain/invocation/invocation.ts";
import { Unavailable } from "../../domain/errors.ts";
import { memberOf, partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, packSubject, partitionCount } from "../../domain/subjects.ts";
import { heldByOthers, runnersOf } from "../../platform/jetstream/members/group.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { deployment } from "../runner/support.ts";
import { withJetStream, withPoolRequests } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** Real streams and two runners. User code records its events, and ends when the test says so. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const quick = "dc_quick";
const partition = partitionOf(quick);
const slow = Array.from({ length: 500 }, (_, n) => `dc_slow${n}`).find((id) => partitionOf(id) === partition) ?? "";

interface Started {
  readonly runner: Runner;
  /** As `<source> <event>`. */
  readonly ran: string[];
}

const unlimited = 600_000;

/** @param running resolves when a run of the slow source may end */
async function start(name: string, ran: string[], running: () => Promise<unknown>, handoverMs = unlimited): Promise<Started> {
  const runner = await startRunner(
    { runner: name, pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 2 ** 20, handoverMs },
    {
      ...createRunnerPorts(nats.connection, defaultPool),
      ...portsBesidePool(async ({ source, event }) => {
        ran.push(`${source} ${event}`);
        if (source === slow) await running();
        return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
      }),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    },
  );
  ends.push(() => runner.stop(AbortSignal.timeout(1_000)));
  return { runner, ran };
}

/** The name of a runner that gets the partition beside the other one. */
const nameBeside = (other: string): string =>
  Array.from({ length: 500 }, (_, n) => `r_second${n}`).find((each) => memberOf(partition, [other, each]) === each) ?? "";

async function send(...invocations: readonly (readonly [source: string, event: number])[]): Promise<void> {
  const pack = invocations.map(([source, event]) => JSON.stringify({ source, trigger: "event", event } satisfies Invocation));
  await nats.connection.publisher.publish(packSubject(defaultPool, partition), encodePack(pack));
}

const isEmpty = async (): Promise<boolean> => (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages === 0;

beforeAll(async () => {
  for (const source of [quick, slow])
    await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, source), { ...deployment, source, name: source });
});

it("hands a partition over once its runs have ended, and repeats no run", async () => {
  const [gate, first, second] = [Promise.withResolvers<void>(), [] as string[], [] as string[]];
  await start("r_first", first, () => gate.promise);
  await send([quick, 1], [slow, 2], [slow, 3]);
  await until(() => first.length === 2, "both sources run");
  const starting = start(nameBeside("r_first"), second, () => Promise.resolve());
  await send([quick, 4], [slow, 5]);
  await until(
    async () => (await heldByOthers(nats.connection, runnersOf(defaultPool), "r_first")).size > 0,
    "the other runner reads partitions",
  );
  expect(second).toEqual([]);
  gate.resolve();
  await starting;
  await until(isEmpty, "all has run");
  const all = [...first, ...second];
  expect(all.toSorted()).toEqual([`${quick} 1`, `${quick} 4`, `${slow} 2`, `${slow} 3`, `${slow} 5`].toSorted());
  expect(second).toContain(`${slow} 5`);
});

it("hands over the idle partitions of a stopping runner at once, while runs of others continue", async () => {
  const [gate, first, second] = [Promise.withResolvers<void>(), [] as string[], [] as string[]];
  const stopping = await start("r_stopping", first, () => gate.promise);
  const elsewhere = Array.from({ length: 500 }, (_, n) => `dc_other${n}`).find((id) => partitionOf(id) !== partition) ?? "";
  await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, elsewhere), {
    ...deployment,
    source: elsewhere,
    name: elsewhere,
  });
  await send([slow, 1]);
  await until(() => first.length === 1, "the slow source runs");
  const staying =
    Array.from({ length: 500 }, (_, n) => `r_staying${n}`).find((each) => memberOf(partition, ["r_stopping", each]) === "r_stopping") ?? "";
  await start(staying, second, () => Promise.resolve());
  const stopped = stopping.runner.stop(AbortSignal.timeout(60_000));
  const other = encodePack([JSON.stringify({ source: elsewhere, trigger: "event", event: 2 })]);
  await nats.connection.publisher.publish(invokeSubject(defaultPool, partitionOf(elsewhere), elsewhere), other);
  await until(() => [...first, ...second].includes(`${elsewhere} 2`), "another partition is read");
  gate.resolve();
  await stopped;
  await until(isEmpty, "all has run");
  expect([...first, ...second].filter((line) => line.startsWith(slow))).toEqual([`${slow} 1`]);
});

it("takes over a partition after the handover time although a run of it continues", async () => {
  const [first, second] = [[] as string[], [] as string[]];
  await start("r_third", first, () => new Promise(() => undefined), 500);
  await send([slow, 1], [slow, 2]);
  await until(() => first.length === 1, "the slow source runs");
  await start(nameBeside("r_third"), second, () => Promise.resolve(), 500);
  await until(isEmpty, "all has run");
  expect(second).toEqual([`${slow} 1`, `${slow} 2`]);
});

it("hands its partitions over while it cannot start sandbox processes, and takes them back when it can", async () => {
  const [first, second] = [[] as string[], [] as string[]];
  let startFailure: string | undefined;
  const { pool, runTimeoutMs, memoryMb, stateCacheBytes } = {
    pool: defaultPool,
    runTimeoutMs: 1_000,
    memoryMb: 64,
    stateCacheBytes: 2 ** 20,
  };
  const ports = portsBesidePool(async ({ source, event }) => {
    if (startFailure !== undefined) throw new Unavailable(`sandbox children cannot be started: ${startFailure}`);
    first.push(`${source} ${event}`);
    return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
  });
  const runner = await startRunner(
    { runner: "r_unable", pool, runTimeoutMs, memoryMb, stateCacheBytes },
    {
      ...createRunnerPorts(nats.connection, defaultPool),
      ...ports,
      sandbox: { ...ports.sandbox, stats: () => ({ ...ports.sandbox.stats(), startFailure }) },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    },
  );
  ends.push(() => runner.stop(AbortSignal.timeout(1_000)));
  const other =
    Array.from({ length: 500 }, (_, n) => `r_other${n}`).find((each) => memberOf(partition, ["r_unable", each]) === "r_unable") ?? "";
  await start(other, second, () => Promise.resolve());
  await send([quick, 1]);
  await until(() => first.length === 1, "the first runner reads the partition");
  startFailure = "no such file";
  await send([quick, 2], [quick, 3]);
  await until(() => second.length === 2, "the other runner runs what is queued");
  startFailure = undefined;
  await until(
    async () => (await heldByOthers(nats.connection, runnersOf(defaultPool), other)).has(partition),
    "the first runner holds the partition again",
  );
  await send([quick, 4]);
  await until(isEmpty, "all has run");
  expect([first, second]).toEqual([
    [`${quick} 1`, `${quick} 4`],
    [`${quick} 2`, `${quick} 3`],
  ]);
});

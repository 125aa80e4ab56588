import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Commit } from "../../../domain/run/commit.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, packSubject, partitionCount } from "../../../domain/subjects.ts";
import { lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { deploymentEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { servePoolRequests } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { waitForPool } from "../../../platform/jetstream/invocations/pool-requests.ts";
import { removePool, setUpPool } from "../../../platform/jetstream/invocations/pool-consumers.ts";
import type { Stoppable } from "../../../platform/jetstream/connection/link.ts";
import { startRunner, type Runner } from "../../../runner/start.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { createRunnerPorts } from "../../../platform/jetstream/invocations/runner-ports.ts";
import { deployment } from "../../runner/support.ts";
import { withJetStream } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { portsBesidePool } from "../runner-beside.ts";

/** Real streams and the runner role. User code increments a counter in the source's db, which reveals repeated and lost runs. */
const nats = withJetStream({ partitions: partitionCount });
const source = "dc_mover";
const owner = "u_mover";
const ref = { owner, source, partition: partitionOf(source) };
const ran: string[] = [];
let requests: Stoppable;

beforeAll(async () => {
  requests = await servePoolRequests(nats.connection);
});
afterAll(() => requests.stop());

const deploymentIn = (pool: string): Deployment => ({ ...deployment, source, owner, pool, name: source });

const counter = z.object({ service: z.object({ n: z.string() }).partial() }).partial();

async function runnerOf(pool: string): Promise<Runner> {
  const ports: RunnerPorts = {
    ...createRunnerPorts(nats.connection, pool),
    ...portsBesidePool(async ({ db, event }) => {
      const n = Number(counter.parse(db).service?.n ?? "0") + 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      ran.push(`${pool} ${event}`);
      return {
        outcome: "ok",
        emits: [],
        logs: [],
        db: { service: { n: String(n) } },
        response: null,
        durationMs: 1,
        cpuMs: 1,
        error: null,
        result: null,
      };
    }),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  return startRunner({ runner: `r-${pool}-${Math.random()}`, pool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 2 ** 20 }, ports);
}

async function count(): Promise<number> {
  const { text } = await lastCommit(nats.connection, ref);
  if (text === undefined) return 0;
  return Number(counter.parse((JSON.parse(text) as Commit).state.db).service?.n ?? "0"); // Written by the runner above.
}

/** Invocations that wait, run, or will be redelivered: a nacked one may have run in another pool in the meantime. */
async function unsettled(): Promise<number> {
  return (await nats.connection.manager.streams.info("INVOCATIONS")).state.messages;
}

test("a source that moves between pools under load runs each invocation exactly once", async () => {
  const entries = deploymentEntries(nats.connection);
  const pools = [defaultPool, "own"] as const;
  await setUpPool(nats.connection, { pool: "own" });
  await waitForPool(nats.connection, "own");
  const runners = [await runnerOf(pools[0]), await runnerOf(pools[1])];
  await entries.put(deploymentKey(pools[0], source), deploymentIn(pools[0]));
  await entries.put(deploymentKey(pools[1], source), { source, movedTo: pools[0] });
  let sent = 0;
  const invocation = (): string => JSON.stringify({ source, trigger: "http", event: sent++ });
  // Senders are not notified of the move: they continue with the old pool, sometimes in packs.
  let moving = true;
  const sending = (async () => {
    for (let round = 0; moving || round < 120; round++) {
      const pool = pools[round % 2] ?? defaultPool;
      const packed = round % 3 === 0;
      const body = encodePack(packed ? [invocation(), invocation(), invocation()] : [invocation()]);
      await nats.connection.publisher.publish(packed ? packSubject(pool, ref.partition) : invokeSubject(pool, ref.partition, source), body);
    }
  })();
  for (const [from, to] of [
    [pools[0], pools[1]],
    [pools[1], pools[0]],
    [pools[0], pools[1]],
  ] as const) {
    await until(() => ran.length > 10, "some have run");
    await entries.put(deploymentKey(to, source), deploymentIn(to));
    await entries.put(deploymentKey(from, source), { source, movedTo: to });
    ran.length = 0;
  }
  moving = false;
  await sending;
  await until(async () => (await unsettled()) === 0, "all are settled");
  for (const runner of runners) await runner.stop(AbortSignal.timeout(5_000));
  expect(await count()).toBe(sent);
});

test("a pool is removed when no source is deployed in it, and its queued invocations follow their source", async () => {
  const entries = deploymentEntries(nats.connection);
  const pool = "leaving";
  await setUpPool(nats.connection, { pool });
  const before = await count();
  await entries.put(deploymentKey(pool, source), deploymentIn(pool));
  await nats.connection.publisher.publish(
    packSubject(pool, ref.partition),
    encodePack([JSON.stringify({ source, trigger: "http", event: "a" }), JSON.stringify({ source: "dc_gone", trigger: "http" })]),
  );
  await expect(removePool(nats.connection, pool)).rejects.toMatchObject({ code: "pool_in_use" });
  await entries.put(deploymentKey("own", source), deploymentIn("own"));
  await entries.put(deploymentKey(pool, source), { source, movedTo: "own" });
  await removePool(nats.connection, pool);
  await removePool(nats.connection, pool);
  expect(await entries.get(deploymentKey(pool, source))).toBeUndefined();
  const runner = await runnerOf("own");
  await until(async () => (await unsettled()) === 0, "all are settled");
  await runner.stop(AbortSignal.timeout(5_000));
  expect(await count()).toBe(before + 1);
});

test("a runner cannot move an invocation of another pool, nor one whose source stays", async () => {
  const { nats: client } = nats.connection;
  const subject = invokeSubject("own", ref.partition, source);
  const { seq } = await nats.connection.publisher.publish(subject, encodePack([JSON.stringify({ source, trigger: "http" })]));
  const ask = async (pool: string): Promise<string> =>
    (await client.request(`pool.${pool}.move`, JSON.stringify({ seq, index: 0 }))).string();
  expect(await ask("stranger")).toBe("{}");
  expect(await ask("own")).toContain("has not left pool");
  expect(await unsettled()).toBe(1);
});

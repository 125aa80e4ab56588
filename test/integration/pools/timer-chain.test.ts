import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { decodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, partitionCount } from "../../../domain/subjects.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import type { Stoppable } from "../../../platform/jetstream/connection/link.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { deploymentEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { servePoolRequests } from "../../../platform/jetstream/invocations/pool-requests.ts";
import type { StreamMessage } from "../../../platform/jetstream/read/stream-message.ts";
import { endTimers } from "../../../platform/jetstream/schedules.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { armNextLink } from "../../../runner/commit/timer-chain.ts";
import { timersOf } from "../../../platform/jetstream/invocations/runner-ports.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { deployment } from "../../runner/support.ts";
import { withNats } from "../../support/nats/nats.ts";

/** Links of a chain over real schedules. The test's clock decides what is due, so that no test waits for a minute. */
const nats = withNats();
const source = "dc_chain";
const minute = 60_000;
let connection: Connection;
let reading: Stoppable;
let requests: Stoppable;
let links: { readonly message: StreamMessage; readonly invocation: Invocation; readonly seq: number }[] = [];

beforeAll(async () => {
  connection = await connect({ server: nats.connection, name: "chain" });
  await setUpStreams(connection, {
    replicas: 1,
    partitions: partitionCount,
    pool: defaultPool,
  });
  requests = await servePoolRequests(connection);
  const onMessage = (message: StreamMessage): void => {
    const [invocation] = decodePack(message.text());
    if (invocation !== undefined) links.push({ message, invocation, seq: message.seq });
  };
  reading = await readPartition({ connection, pool: defaultPool, partition: partitionOf(source), onMessage });
});
afterAll(async () => {
  await reading.stop();
  await requests.stop();
  await connection.close();
});

const deploymentOf = (generation: number, cron = "* * * * *"): Deployment => ({
  ...deployment,
  source,
  id: `d_${generation}`,
  generation,
  props: { timer: { cron, timezone: "Europe/Berlin" } },
});
const tick = (generation: number, at: number): Invocation => ({
  source,
  generation,
  trigger: "timer",
  chain: "timer",
  at,
  event: { interval_seconds: null },
});
const arm = async (invocation: Invocation, on: Deployment, now: number): Promise<void> => {
  await deploymentEntries(connection).put(deploymentKey(defaultPool, source), on);
  await armNextLink({ invocation, position: { seq: 1, index: 0 }, storedAt: now }, on, {
    timers: timersOf(connection, defaultPool),
    clock: { now: () => now },
  });
};
const next = async (count: number): Promise<typeof links> => {
  expect(await waitUntil(() => links.length >= count, 120_000)).toBe(true);
  return links;
};
/** A minute in the past, so that the tick armed after it is due and fires at once. */
const lastMinute = (): number => Math.floor(Date.now() / minute) * minute;

describe("a chain of ticks", () => {
  it("arms the next tick, which fires under the same prop and generation", async () => {
    links = [];
    const at = lastMinute() - minute;
    await arm(tick(1, at), deploymentOf(1), at + 10);
    const [link] = await next(1);
    expect(link?.invocation).toEqual(tick(1, at + minute));
    link?.message.ack();
  });

  it("does not double when a link is delivered twice before its ack", async () => {
    links = [];
    const at = lastMinute() - 10 * minute;
    for (let time = 0; time < 3; time++) await arm(tick(2, at), deploymentOf(2), at + 10);
    const stored = (): Promise<number> => connection.manager.streams.info("INVOCATIONS").then(({ state }) => state.messages);
    const [link] = await next(1);
    expect(await stored()).toBe(1);
    link?.message.ack();
    expect(await waitUntil(async () => (await stored()) === 0, 120_000)).toBe(true);
    expect(links).toHaveLength(1);
  });

  it("runs the last of the missed ticks, and counts the others", async () => {
    links = [];
    const at = lastMinute() - 7 * minute;
    await arm(tick(3, at), deploymentOf(3), at + 5 * minute + 10);
    const [link] = await next(1);
    expect(link?.invocation).toEqual({ ...tick(3, at + 5 * minute), skippedTicks: 4 });
    link?.message.ack();
  });

  it("ends when its source changes or its timers are removed, and starts again with the change", async () => {
    links = [];
    const at = lastMinute() - 20 * minute;
    await arm(tick(4, at), deploymentOf(5), at + 10);
    await arm(tick(5, Date.now()), deploymentOf(5), Date.now());
    await endTimers(connection, source);
    await arm(tick(6, at + minute), deploymentOf(6), at + minute + 10);
    const [link] = await next(1);
    expect(link?.invocation).toEqual(tick(6, at + 2 * minute));
    link?.message.ack();
    expect(links).toHaveLength(1);
  });
});

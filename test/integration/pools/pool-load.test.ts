import { describe, expect, it, vi } from "vitest";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { invokeSubject } from "../../../domain/subjects.ts";
import { announce, runnersOf } from "../../../platform/jetstream/members/group.ts";
import { createBacklogs } from "../../../platform/jetstream/invocations/pool-backlogs.ts";
import { setUpPool } from "../../../platform/jetstream/invocations/pool-consumers.ts";
import { readPartition } from "../../../platform/jetstream/read/partition-reader.ts";
import { followRunnerLoad } from "../../../platform/jetstream/members/runner-load.ts";
import { withJetStream } from "../jetstream/support.ts";

const within = { timeout: 120_000, interval: 100 };

describe("the load of a pool", () => {
  const nats = withJetStream({ partitions: 16 });

  const publish = async (pool: string, partition: number, count: number): Promise<void> => {
    const body = encodePack([JSON.stringify({ source: "dc_a", trigger: "manual" })]);
    for (let n = 0; n < count; n++) await nats.connection.publisher.publish(invokeSubject(pool, partition, "dc_a"), body, {});
  };

  it("is the number of queued and running invocations in all its partitions, without other pools", async () => {
    await setUpPool(nats.connection, { pool: "fast" });
    const backlogs = createBacklogs(nats.connection);
    expect(await backlogs.of("fast")).toBe(0);
    await publish("fast", 3, 5);
    await publish("fast", 15, 2);
    await publish("default", 3, 4);
    const held: (() => void)[] = [];
    const reading = await readPartition({
      connection: nats.connection,
      pool: "fast",
      partition: 3,
      onMessage: (message) => void held.push(() => message.ack()),
    });
    await vi.waitFor(() => expect(held.length).toBe(5), within);
    await vi.waitFor(async () => expect([await backlogs.of("fast"), await backlogs.of("default")]).toEqual([7, 4]), within);
    for (const ack of held) ack();
    await vi.waitFor(async () => expect(await backlogs.of("fast")).toBe(2), within);
    await reading.stop();
  });

  it("creates the consumers of a pool that has none, and counts their queued messages", async () => {
    const backlogs = createBacklogs(nats.connection);
    await publish("new", 7, 3);
    expect(await backlogs.of("new")).toBeUndefined();
    expect(await backlogs.of("new")).toBe(3);
  });

  it("is the mean memory and CPU of the live runners, without those that left", async () => {
    const load = await followRunnerLoad(nats.connection);
    expect(load.of("fast")).toEqual({ reporting: 0, memoryShare: undefined, cpuShare: undefined });
    const [full, empty, other] = await Promise.all([
      announce(nats.connection, runnersOf("fast"), "r1", { report: () => Promise.resolve({ memoryShare: 0.9, cpuShare: 0.3 }) }),
      announce(nats.connection, runnersOf("fast"), "r2", { report: () => Promise.resolve({ memoryShare: 0.5 }) }),
      announce(nats.connection, runnersOf("fast2"), "r3", { report: () => Promise.resolve({ memoryShare: 0.1 }) }),
    ]);
    await vi.waitFor(() => expect(load.of("fast").memoryShare).toBeCloseTo(0.7), within);
    await full.leave();
    await vi.waitFor(() => expect(load.of("fast")).toEqual({ reporting: 1, memoryShare: 0.5, cpuShare: undefined }), within);
    await Promise.all([empty.leave(), other.leave()]);
    await vi.waitFor(() => expect(load.of("fast")).toEqual({ reporting: 0, memoryShare: undefined, cpuShare: undefined }), within);
    await load.stop();
  });
});

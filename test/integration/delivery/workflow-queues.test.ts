import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defaultPool as pool, waitingSubject } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const { start, stopAll, subscribe, putWorkflow, emit, invocationsOf, queuedFor } = world;
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);
const eventsOf = async (workflow: string): Promise<readonly unknown[]> => (await invocationsOf(workflow)).map(({ event }) => event);

describe("an event for an active workflow", () => {
  it("becomes an invocation, as for a listening source", async () => {
    await subscribe("dc_active", "p_active", { pool });
    await start();
    await emit("dc_active", 7);
    await until(async () => (await invocationsOf("p_active")).length === 1, "the invocation");
    const [invocation] = await invocationsOf("p_active");
    expect(invocation).toEqual({
      source: "p_active",
      trigger: "event",
      at: expect.any(Number),
      delivery: expect.stringMatching(/^[\w-]{12}$/),
      hops: 1,
      way: ["dc_active"],
      metadata: expect.objectContaining({ emit_id: "em_dc_activex7", emitter_id: "dc_active" }),
      event: 7,
    });
    expect(await queuedFor("p_active")).toBe(0);
  });

  it("waits while the backlog of the workflow is full, and is delivered afterwards", async () => {
    await subscribe("dc_crowd", "p_crowded", { pool });
    const report = (sources: readonly string[]): void =>
      world.admission.update(pool, "r_1", { partitions: [], sources, owners: [] }, performance.now());
    report(["p_crowded"]);
    await start();
    await emit("dc_crowd", 1);
    const { manager } = world.streams.connection;
    await until(async () => (await manager.streams.info("DELIVERIES")).state.messages > 0, "the delivery is stored for later");
    expect(await eventsOf("p_crowded")).toEqual([]);
    report([]);
    await until(async () => (await eventsOf("p_crowded")).length === 1, "the invocation");
  });
});

describe("a delivery that waits for room in the backlog of a workflow", () => {
  it("stays when its subscription ends", async () => {
    await putWorkflow("p_late", { pool });
    const subscription = await subscribe("dc_late", "p_late", { pool });
    const report = (sources: readonly string[]): void =>
      world.admission.update(pool, "r_1", { partitions: [], sources, owners: [] }, performance.now());
    report(["p_late"]);
    await start();
    await emit("dc_late", 1);
    const { manager } = world.streams.connection;
    const stored = async () => (await manager.streams.info("DELIVERIES", { subjects_filter: "*.p_late.>" })).state.subjects ?? {};
    await until(async () => Object.keys(await stored()).length > 0, "the delivery is stored for later");
    await world.deleteRoute(subscription);
    report([]);
    await until(async () => (await eventsOf("p_late")).length === 1, "the invocation");
  });
});

describe("the stored backlog of a workflow", () => {
  it("is delivered when the workflow becomes active, oldest first and each event once, by two replicas at once", async () => {
    await subscribe("dc_many", "p_many");
    await start();
    await start(await world.streams.addConnection());
    for (const n of upTo(4)) await emit("dc_many", ...upTo(15).map((each) => (n - 1) * 15 + each));
    await until(async () => (await queuedFor("p_many")) === 60, "60 events are queued");
    expect(await eventsOf("p_many")).toEqual([]);
    await subscribe("dc_many", "p_many", { pool });
    await until(async () => (await queuedFor("p_many")) === 0, "the queue is empty");
    expect(await eventsOf("p_many")).toEqual(upTo(60));
  });

  it("is delivered after a restart, if the workflow became active while no replica ran", async () => {
    await subscribe("dc_night", "p_night");
    await start();
    await emit("dc_night", ...upTo(3));
    await until(async () => (await queuedFor("p_night")) === 3, "three events are queued");
    await stopAll();
    await subscribe("dc_night", "p_night", { pool });
    await start();
    await until(async () => (await queuedFor("p_night")) === 0, "the queue is empty");
    expect(await eventsOf("p_night")).toEqual(upTo(3));
  });

  it("is delivered by another subscription of the same workflow that becomes active", async () => {
    await subscribe("dc_first", "p_shared");
    await start();
    await emit("dc_first", 1);
    await until(async () => (await queuedFor("p_shared")) === 1, "an event is queued");
    await subscribe("dc_second", "p_shared", { pool });
    await until(async () => (await queuedFor("p_shared")) === 0, "the queue is empty");
    expect(await eventsOf("p_shared")).toEqual([1]);
  });

  it("is kept and delivered after its last subscription has ended, by the entry of the workflow itself", async () => {
    await putWorkflow("p_ended");
    const subscription = await subscribe("dc_ended", "p_ended");
    await start();
    await emit("dc_ended", 1, 2);
    await until(async () => (await queuedFor("p_ended")) === 2, "two events are queued");
    await world.deleteRoute(subscription);
    await putWorkflow("p_ended", { pool });
    await until(async () => (await queuedFor("p_ended")) === 0, "the queue is empty");
    expect(await eventsOf("p_ended")).toEqual([1, 2]);
  });

  it("is delivered if it was stored before subjects had an owner", async () => {
    await start();
    await emit("dc_old", 1);
    const delivery = (n: number) => ({
      id: `em_old${n}.sub_old`,
      subscription: "sub_old",
      listener: "p_old",
      attempt: 1,
      event: { emitId: `em_old${n}`, eventId: `${n}-0`, source: "dc_old", owner: "u_1", channel: "", payload: String(n), ts: 1 },
    });
    const { publisher } = world.streams.connection;
    for (const n of [1, 2]) await publisher.publish("workflow.p_old", JSON.stringify(delivery(n)));
    await publisher.publish(waitingSubject("p_old", "u_1", 0), JSON.stringify(delivery(3)));
    await putWorkflow("p_old", { pool });
    await until(async () => (await eventsOf("p_old")).length === 3, "the invocations");
    expect(await eventsOf("p_old")).toEqual([1, 2, 3]);
  });

  it("waits while the backlog of runs is full", async () => {
    await subscribe("dc_slow", "p_slow");
    const report = (sources: readonly string[]): void =>
      world.admission.update(pool, "r_1", { partitions: [], sources, owners: [] }, performance.now());
    report(["p_slow"]);
    await start();
    await emit("dc_slow", ...upTo(2));
    await until(async () => (await queuedFor("p_slow")) === 2, "two events are queued");
    await subscribe("dc_slow", "p_slow", { pool });
    // Events that arrive in the meantime are stored behind the earlier ones.
    await until(async () => {
      await emit("dc_slow", 100);
      return (await queuedFor("p_slow")) > 2;
    }, "later events are queued");
    expect(await eventsOf("p_slow")).toEqual([]);
    report([]);
    await until(async () => (await queuedFor("p_slow")) === 0, "the queue is empty");
    expect((await eventsOf("p_slow")).slice(0, 3)).toEqual([1, 2, 100]);
  });

  it("loses, repeats and reorders nothing while the workflow is switched on and off during its events", async () => {
    await subscribe("dc_toggle", "p_toggle");
    await start();
    await start(await world.streams.addConnection());
    const count = 60;
    let isEmitting = true;
    const toggling = (async () => {
      for (let n = 0; isEmitting; n++) {
        await subscribe("dc_toggle", "p_toggle", n % 2 === 0 ? { pool } : {});
        await sleep(Math.random() * 20);
      }
    })();
    for (let n = 1; n <= count; n++) await emit("dc_toggle", n);
    isEmitting = false;
    await toggling;
    await subscribe("dc_toggle", "p_toggle", { pool });
    await until(async () => (await eventsOf("p_toggle")).length >= count, "all events");
    expect(await eventsOf("p_toggle")).toEqual(upTo(count));
    await until(async () => (await queuedFor("p_toggle")) === 0, "the queue is empty");
  });
});

import { expect, it } from "vitest";
import { defaultPool as pool, partitionCount } from "../../../domain/subjects.ts";
import { requestRedelivery } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { streamOptions } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const { start, stopAll, subscribe, putWorkflow, emitOf, queuedFor, invocationsOf } = world;
/** 2 % of it are for WORKFLOWS: 1 MiB. */
const storeBytes = 50 * 2 ** 20;
/** Counts as 64 KiB. */
const large = JSON.stringify("x".repeat(50_000));
const all = { limit: 100, cursor: null };

it("keeps what waits for an owner's workflow while another owner fills his share, whose further events become dead letters", async () => {
  const { connection } = world.streams;
  await setUpStreams(connection, { ...streamOptions, partitions: partitionCount, storeBytes });
  const records = createDeliveryRecords(world.database());
  const deadLetters = async () => (await records.pageDeadLetters("p_greedy", all)).items;
  await putWorkflow("p_modest", { owner: "u_modest" });
  await putWorkflow("p_greedy", { owner: "u_greedy" });
  const subscription = await subscribe("dc_modest", "p_modest", { owner: "u_modest" });
  await subscribe("dc_greedy", "p_greedy", { owner: "u_greedy" });
  await start();
  await start(await world.streams.addConnection());
  await emitOf("u_modest", "dc_modest", [1, "1"]);
  await until(async () => (await queuedFor("p_modest")) === 1, "the modest owner's event waits");

  const count = 20;
  for (let n = 1; n <= count; n++) await emitOf("u_greedy", "dc_greedy", [n, large]);
  const stored = async () => (await queuedFor("p_greedy")) + (await deadLetters()).length;
  await until(async () => (await stored()) === count, "each event waits or is a dead letter");
  const waiting = await queuedFor("p_greedy");
  expect(waiting).toBeLessThanOrEqual(8);
  expect(waiting).toBeGreaterThan(2);
  const [letter] = await deadLetters();
  expect(letter).toMatchObject({ source: "dc_greedy", payload: large, attempts: 0 });
  expect(letter?.reason).toMatch(/^the events that wait for workflows of this owner that are not active have \d+ bytes, .*: activate/);

  // A restart of all replicas forgets nothing: NATS counts.
  await stopAll();
  await start();
  await emitOf("u_greedy", "dc_greedy", [count + 1, large]);
  await emitOf("u_modest", "dc_modest", [2, "2"]);
  await until(async () => (await queuedFor("p_modest")) === 2, "the modest owner's next event waits too");
  await until(async () => (await stored()) === count + 1, "the greedy owner's next event is a dead letter");
  expect(await queuedFor("p_greedy")).toBe(waiting);

  await world.deleteRoute(subscription);
  await putWorkflow("p_modest", { owner: "u_modest", pool });
  await until(async () => (await invocationsOf("p_modest")).length === 2, "both events are delivered");

  await putWorkflow("p_greedy", { owner: "u_greedy", pool });
  await until(async () => (await queuedFor("p_greedy")) === 0, "the queue is empty");
  const { delivery = "" } = (await deadLetters())[0] ?? {};
  await requestRedelivery(connection, { webhook: "p_greedy", deliveries: [delivery] });
  await until(async () => (await invocationsOf("p_greedy")).length === waiting + 1, "a dead letter is delivered on request");
  expect((await deadLetters()).map((each) => each.delivery)).not.toContain(delivery);
  await setUpStreams(connection, { ...streamOptions, partitions: partitionCount });
});

import { expect, it } from "vitest";
import { defaultPool as pool } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import { startMortalReplica } from "./process.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const { start, subscribe, emit, invocationsOf, queuedFor } = world;
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);

it("delivers the stored backlog of a workflow once and in order by another replica after a kill in the middle", async () => {
  await subscribe("dc_kill", "p_kill");
  const { streams, postgres } = world;
  const count = 1_000;
  const first = await startMortalReplica(streams.server.connection, postgres.urlOf("delivery"));
  for (let n = 1; n <= count; n += 100) await emit("dc_kill", ...upTo(100).map((each) => n + each - 1));
  await until(async () => (await queuedFor("p_kill")) === count, "all events are queued");
  await subscribe("dc_kill", "p_kill", { pool });
  await until(async () => (await queuedFor("p_kill")) < count, "the queue is being delivered");
  await first.kill();
  const left = await queuedFor("p_kill");
  await start();
  await until(async () => (await queuedFor("p_kill")) === 0, "the queue is empty");
  expect((await invocationsOf("p_kill")).map(({ event }) => event)).toEqual(upTo(count));
  expect(left).toBeGreaterThan(0);
});

import { expect, it } from "vitest";
import { defaultPool as pool } from "../../../domain/subjects.ts";
import { deliveryBacklog } from "../../../platform/jetstream/deliveries/delivery-backlog.ts";
import { dueConsumer } from "../../../wiring/roles/delivery-ports.ts";
import { committedEvent } from "../committed-event.ts";
import { until } from "../../support/until.ts";
import { withWorkflowWorld } from "./workflow-support.ts";

const world = withWorkflowWorld();
const { start, subscribe, putRoute, endRun, invocationsOf } = world;

/** A source that listens. */
const listen = (listener: string, emitter: string, channel = "", owner = "u_1"): Promise<unknown> =>
  putRoute({ subscription: `sub${listener.replace("_", "")}`, owner, emitter, channel, listener: { kind: "source", id: listener, pool } });
const eventsOf = async (listener: string): Promise<readonly unknown[]> => (await invocationsOf(listener)).map(({ event }) => event);
const emitted = (run: string, n: number, channel = "") =>
  committedEvent(`${n}-0`, { emitId: `${run}x${n}`, channel, payload: `{"n":${n}}` });

it("delivers the emits of a workflow to subscribers of the workflow, of `p_*`, and of their channel", async () => {
  await listen("dc_byid", "p_emitter");
  await listen("dc_byglob", "p_*");
  await listen("dc_bychannel", "p_emitter", "orders");
  await listen("dc_others", "p_other");
  await listen("dc_foreign", "p_*", "", "u_2");
  // A workflow that listens to all workflows does not receive its own events.
  await subscribe("p_*", "p_emitter", { pool });
  await start();
  await endRun("p_emitter", "r_1", { events: [emitted("r_1", 1), emitted("r_1", 2), emitted("r_1", 3, "orders")] });
  await endRun("p_emitter", "r_2", { events: [emitted("r_2", 4)] });
  const expected = [{ n: 1 }, { n: 2 }, { n: 4 }];
  await until(async () => (await eventsOf("dc_byid")).length + (await eventsOf("dc_byglob")).length === 6, "all emits");
  expect([await eventsOf("dc_byid"), await eventsOf("dc_byglob"), await eventsOf("dc_bychannel")]).toEqual([
    expected,
    expected,
    [{ n: 3 }],
  ]);
  expect([await eventsOf("dc_others"), await eventsOf("dc_foreign"), await eventsOf("p_emitter")]).toEqual([[], [], []]);
  expect((await invocationsOf("dc_byid"))[0]?.metadata).toMatchObject({ emitter_id: "p_emitter", emit_id: "r_1x1", name: "" });
});

it("delivers `$errors` to subscriptions whose emitter is that workflow, `p_*`, the organization or the user, every duplicate", async () => {
  const error = { name: "Error", message: "no such order" };
  await listen("dc_eworkflow", "p_failing", "$errors");
  await listen("dc_eglob", "p_*", "$errors");
  await listen("dc_euser", "u_1");
  await listen("dc_eorg", "o_1", "$errors", "o_1");
  await listen("dc_noerror", "p_failing");
  await start();
  for (const run of ["r_10", "r_11"]) await endRun("p_failing", run, { error });
  for (const run of ["r_12", "r_13"]) await endRun("p_ofteam", run, { error, owner: "o_1" });
  const listeners = ["dc_eworkflow", "dc_eglob", "dc_euser", "dc_eorg"];
  const received = () => Promise.all(listeners.map(eventsOf));
  await until(async () => (await received()).every((events) => events.length >= 2), "two errors each");
  for (const [n, events] of (await received()).entries()) {
    const workflow = n === 3 ? "p_ofteam" : "p_failing";
    const described = expect.objectContaining({
      error: expect.objectContaining({ msg: "no such order" }),
      original_context: expect.objectContaining({ workflow_id: workflow }),
    });
    expect(events).toEqual([described, described]);
  }
  expect(await eventsOf("dc_noerror")).toEqual([]);
});

it("counts the hops through a workflow, and names the workflow in the way", async () => {
  await listen("dc_next", "p_between");
  await start();
  await endRun("p_between", "r_20", { events: [emitted("r_20", 1)], hops: 41, way: ["p_between", "dc_next"] });
  await until(async () => (await invocationsOf("dc_next")).length === 1, "the invocation");
  expect((await invocationsOf("dc_next"))[0]).toMatchObject({ hops: 42, way: ["p_between", "dc_next", "p_between"] });
});

it("routes and records past end markers of workflow runs", async () => {
  await start();
  for (let n = 0; n < 40; n++) await endRun(`p_marked${n % 20}`, `r_3${n}`);
  const backlog = () => deliveryBacklog(world.streams.connection, dueConsumer);
  await until(async () => {
    const { unrouted, unrecorded } = await backlog();
    return unrouted === 0 && unrecorded === 0;
  }, "nothing is unrouted or unrecorded");
});

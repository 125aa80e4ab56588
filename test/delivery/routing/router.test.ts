import { describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { KeyedChains } from "../../../delivery/routing/keyed-chains.ts";
import type { Delivery, ScheduledEvent } from "../../../delivery/routing/delivery.ts";
import { routeCommit } from "../../../delivery/routing/router.ts";
import { Routes } from "../../../delivery/routing/routes.ts";

const event = (n: number, more: object = {}) => ({
  id: `${n}-0`,
  emitId: `e${n}`,
  channel: "",
  dedupeId: null,
  summary: null,
  ts: n,
  payload: `{"n":${n}}`,
  ...more,
});
const commit = (more: Partial<Commit> = {}): Commit => ({
  source: "dc_1",
  owner: "u_1",
  deployment: "d_1",
  run: { id: "r_1", trigger: "http", generation: 1, startedAt: 5, durationMs: 2, cpuMs: 1, result: null },
  events: [event(1)],
  logs: [],
  error: null,
  state: emptyState,
  ...more,
});
const route = (id: string, more: Partial<Route> = {}): Route => ({
  subscription: id,
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "webhook", id: `wh_${id}`, url: "http://a", keys: [] },
  ...more,
});

async function routed(given: Commit, routes: readonly Route[], now = 0) {
  const table = new Routes();
  for (const one of routes) table.set(one.subscription, one);
  const attempted: Delivery[] = [];
  const scheduled: [string, number][] = [];
  const enqueued: [string, readonly string[]][] = [];
  const events: ScheduledEvent[] = [];
  const dispatch = {
    attempt: (delivery: Delivery) => Promise.resolve(void attempted.push(delivery)),
    schedule: (delivery: Delivery, atMs: number) => Promise.resolve(void scheduled.push([delivery.id, atMs])),
    enqueue: (deliveries: readonly Delivery[]) =>
      Promise.resolve(void enqueued.push([deliveries[0]?.listener ?? "", deliveries.map(({ id }) => id)])),
    scheduleEvent: (event: ScheduledEvent) => Promise.resolve(void events.push(event)),
    rescheduleEvent: () => expect.unreachable("no event of a commit is due"),
  };
  const parts = { routes: table, dispatch, maxDirectListeners: 3, clock: { now: () => now } };
  await routeCommit(given, { commit: { position: { stream: "s", seq: 1 }, queues: undefined } }, new KeyedChains(), parts);
  return { attempted, scheduled, enqueued, events };
}

describe("routeCommit", () => {
  it("names a delivery after its event and subscription", async () => {
    expect((await routed(commit(), [route("s1"), route("s2")])).attempted.map(({ id }) => id)).toEqual(["e1.s1", "e1.s2"]);
  });

  it("attempts the events of one source for one listener in order", async () => {
    const { attempted } = await routed(commit({ events: [event(1), event(2), event(3)] }), [route("s1")]);
    expect(attempted.map(({ event: { emitId } }) => emitId)).toEqual(["e1", "e2", "e3"]);
  });

  it("schedules each delivery as a message at once when an event has many listeners", async () => {
    const { attempted, scheduled } = await routed(
      commit(),
      ["s1", "s2", "s3", "s4"].map((id) => route(id)),
      7,
    );
    expect(attempted).toEqual([]);
    expect(scheduled).toHaveLength(4);
  });

  it("schedules an event with a later delivery_ts, with or without listeners, and does not route it", async () => {
    const given = commit({ events: [event(1, { deliverAt: 9_000 }), event(2, { deliverAt: 2 })], hops: 3 });
    for (const routes of [[], [route("s1")]]) {
      const { attempted, scheduled, events } = await routed(given, routes, 7);
      expect([attempted.map(({ id }) => id), scheduled]).toEqual([routes.length === 0 ? [] : ["e2.s1"], []]);
      expect(events).toEqual([
        {
          event: expect.objectContaining({ emitId: "e1", eventId: "9000-89990000", deliverAt: 9_000, hops: 3 }) as unknown,
          run: given.run.id,
          listedId: "1-0",
          position: { stream: "s", seq: 1 },
        },
      ]);
    }
  });

  it("enqueues all due deliveries of a commit for an ordered webhook at once, regardless of the number of listeners", async () => {
    const ordered = { kind: "webhook", id: "wh_o", url: "http://a", ordered: true, keys: [] } as const;
    const routes = [route("s1", { listener: ordered }), route("s2"), route("s3", { listener: ordered }), route("s4")];
    const given = commit({ events: [event(1), event(2, { deliverAt: 9_000 }), event(3)] });
    const { attempted, scheduled, enqueued, events } = await routed(given, routes, 7);
    expect(enqueued).toEqual([["wh_o", ["e1.s1", "e1.s3", "e3.s1", "e3.s3"]]]);
    expect([attempted, events.map(({ listedId }) => listedId)]).toEqual([[], ["2-0"]]);
    expect(scheduled.toSorted()).toEqual(
      ["e1", "e3"].flatMap((id) => [
        [`${id}.s2`, 7],
        [`${id}.s4`, 7],
      ]),
    );
  });

  it("routes errors and log lines to listeners of their channels, under ids derived from the run", async () => {
    const failed = commit({
      events: [],
      error: { name: "Error", message: "no" },
      logs: [{ k: "console.log", ts: 6, msg: "hi" }],
    });
    const { attempted } = await routed(failed, [route("s1", { channel: "$errors" }), route("s2", { channel: "$logs", emitter: "dc_*" })]);
    expect(attempted.map(({ id }) => id)).toEqual(["r_1e.s1", "r_1l0.s2"]);
    expect(JSON.parse(attempted[0]?.event.payload ?? "")).toMatchObject({
      error: { message: "no" },
      original_context: { id: "r_1", source_id: "dc_1" },
    });
    expect(JSON.parse(attempted[1]?.event.payload ?? "")).toEqual({ k: "console.log", ts: 6, msg: "hi" });
  });

  it("does not route a source's events to itself when it listens to all sources", async () => {
    const all = (id: string) => route(`s_${id}`, { emitter: "dc_*", listener: { kind: "source", id, pool: "default" } });
    const { attempted } = await routed(commit({ hops: 4, way: ["dc_0"] }), [all("dc_1"), all("dc_2")]);
    expect(attempted.map(({ listener, event: { hops, way } }) => [listener, hops, way])).toEqual([["dc_2", 4, ["dc_0"]]]);
  });

  it("routes a source's events to itself when a subscription names it as emitter and listener of a named channel", async () => {
    const self = { kind: "source", id: "dc_1", pool: "default" } as const;
    const routes = ["", "tasks", "$errors", "$logs"].map((channel) => route(`s_${channel}`, { channel, listener: self }));
    const given = commit({
      events: [event(1), event(2, { channel: "tasks" })],
      error: { name: "Error", message: "no" },
      logs: [{ k: "console.log", ts: 6, msg: "hi" }],
    });
    const glob = route("s_glob", { emitter: "dc_*", channel: "tasks", listener: self });
    expect((await routed(given, [...routes, glob])).attempted.map(({ id }) => id)).toEqual(["e2.s_tasks"]);
  });

  it.each([
    [3, "attempted"],
    [4, "scheduled"],
  ])("has %i sends of a run %s, with up to three attempted at once", async (count, how) => {
    const sends = Array.from({ length: count }, (_, n) => ({ id: `s${n}`, kind: "http", argument: "{}", at: 5 }) as const);
    const given = commit({ source: "p_1", events: [], workflow: { sends } as unknown as NonNullable<Commit["workflow"]> });
    const { attempted, scheduled } = await routed(given, [route("s1")], 7);
    expect(attempted.map(({ id }) => id)).toEqual(how === "attempted" ? sends.map(({ id }) => id) : []);
    expect(scheduled).toEqual(how === "scheduled" ? sends.map(({ id }) => [id, 7]) : []);
  });

  it("routes nothing to a glob of another owner", async () => {
    expect((await routed(commit(), [route("s1", { emitter: "dc_*", owner: "u_2" })])).attempted).toEqual([]);
  });
});

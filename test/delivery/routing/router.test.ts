import { describe, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { Chains } from "../../../delivery/routing/keyed-chains.ts";
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
  const direct: Delivery[] = [];
  const later: [string, number][] = [];
  const enqueued: [string, readonly string[]][] = [];
  const scheduled: ScheduledEvent[] = [];
  const dispatch = {
    direct: (delivery: Delivery) => Promise.resolve(void direct.push(delivery)),
    later: (delivery: Delivery, atMs: number) => Promise.resolve(void later.push([delivery.id, atMs])),
    enqueue: (webhook: string, deliveries: readonly Delivery[]) =>
      Promise.resolve(void enqueued.push([webhook, deliveries.map(({ id }) => id)])),
    scheduled: (event: ScheduledEvent) => Promise.resolve(void scheduled.push(event)),
  };
  await routeCommit({ commit: given, position: { stream: "s", seq: 1 } }, table, new Chains(), dispatch, 3, now);
  return { direct, later, enqueued, scheduled };
}

describe("routeCommit", () => {
  it("names a delivery after its event and its subscription", async () => {
    expect((await routed(commit(), [route("s1"), route("s2")])).direct.map(({ id }) => id)).toEqual(["e1.s1", "e1.s2"]);
  });

  it("keeps the order of one source's events towards one listener", async () => {
    const { direct } = await routed(commit({ events: [event(1), event(2), event(3)] }), [route("s1")]);
    expect(direct.map(({ event: { emitId } }) => emitId)).toEqual(["e1", "e2", "e3"]);
  });

  it("writes each delivery down at once when an event has many listeners", async () => {
    const { direct, later } = await routed(
      commit(),
      ["s1", "s2", "s3", "s4"].map((id) => route(id)),
      7,
    );
    expect(direct).toEqual([]);
    expect(later).toHaveLength(4);
  });

  it("schedules an event that is due later, whether or not anything listens yet, and routes it no further", async () => {
    const given = commit({ events: [event(1, { deliverAt: 9_000 }), event(2, { deliverAt: 2 })], hops: 3 });
    for (const routes of [[], [route("s1")]]) {
      const { direct, later, scheduled } = await routed(given, routes, 7);
      expect([direct.map(({ id }) => id), later]).toEqual([routes.length === 0 ? [] : ["e2.s1"], []]);
      expect(scheduled).toEqual([
        {
          event: expect.objectContaining({ emitId: "e1", eventId: "9000-89990000", deliverAt: 9_000, hops: 3 }) as unknown,
          listedId: "1-0",
          position: { stream: "s", seq: 1 },
        },
      ]);
    }
  });

  it("puts what an ordered webhook hears of a commit in its line, whole, however many listen; not what is for later", async () => {
    const ordered = { kind: "webhook", id: "wh_o", url: "http://a", ordered: true, keys: [] } as const;
    const routes = [route("s1", { listener: ordered }), route("s2"), route("s3", { listener: ordered }), route("s4")];
    const given = commit({ events: [event(1), event(2, { deliverAt: 9_000 }), event(3)] });
    const { direct, later, enqueued, scheduled } = await routed(given, routes, 7);
    expect(enqueued).toEqual([["wh_o", ["e1.s1", "e1.s3", "e3.s1", "e3.s3"]]]);
    expect([direct, scheduled.map(({ listedId }) => listedId)]).toEqual([[], ["2-0"]]);
    expect(later.toSorted()).toEqual(
      ["e1", "e3"].flatMap((id) => [
        [`${id}.s2`, 7],
        [`${id}.s4`, 7],
      ]),
    );
  });

  it("gives errors and log lines to those who listen to them, under ids that repeat", async () => {
    const failed = commit({
      events: [],
      error: { name: "Error", message: "no" },
      logs: [{ k: "console.log", ts: 6, msg: "hi" }],
    });
    const { direct } = await routed(failed, [route("s1", { channel: "$errors" }), route("s2", { channel: "$logs", emitter: "dc_*" })]);
    expect(direct.map(({ id }) => id)).toEqual(["r_1e.s1", "r_1l0.s2"]);
    expect(JSON.parse(direct[0]?.event.payload ?? "")).toMatchObject({
      error: { message: "no" },
      original_context: { id: "r_1", source_id: "dc_1" },
    });
    expect(JSON.parse(direct[1]?.event.payload ?? "")).toEqual({ k: "console.log", ts: 6, msg: "hi" });
  });

  it("does not let a source that listens to all sources hear itself", async () => {
    const all = (id: string) => route(`s_${id}`, { emitter: "dc_*", listener: { kind: "source", id, pool: "default" } });
    const { direct } = await routed(commit({ hops: 4, way: ["dc_0"] }), [all("dc_1"), all("dc_2")]);
    expect(direct.map(({ listener, event: { hops, way } }) => [listener, hops, way])).toEqual([["dc_2", 4, ["dc_0"]]]);
  });

  it("lets a source hear itself where a subscription names it at both ends and a channel of its own", async () => {
    const self = { kind: "source", id: "dc_1", pool: "default" } as const;
    const routes = ["", "tasks", "$errors", "$logs"].map((channel) => route(`s_${channel}`, { channel, listener: self }));
    const given = commit({
      events: [event(1), event(2, { channel: "tasks" })],
      error: { name: "Error", message: "no" },
      logs: [{ k: "console.log", ts: 6, msg: "hi" }],
    });
    const glob = route("s_glob", { emitter: "dc_*", channel: "tasks", listener: self });
    expect((await routed(given, [...routes, glob])).direct.map(({ id }) => id)).toEqual(["e2.s_tasks"]);
  });

  it("does nothing for an owner's glob and another owner's source", async () => {
    expect((await routed(commit(), [route("s1", { emitter: "dc_*", owner: "u_2" })])).direct).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { firstDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import { Dispatch } from "../../../delivery/routing/dispatch.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { LimitExceeded, Unavailable } from "../../../domain/errors.ts";

const event = { emitId: "e1", eventId: "1-0", source: "dc_1", owner: "u_1", channel: "", ts: 1, payload: "{}" };
const webhook: Route = {
  subscription: "sub_1",
  owner: "u_1",
  emitter: "dc_1",
  channel: "",
  listener: { kind: "webhook", id: "wh_1", url: "http://a", keys: ["key"] },
};
const source: Route = { ...webhook, listener: { kind: "source", id: "dc_2", pool: "default" } };
const position = { stream: "s", seq: 7 };

/** A dispatch, and the calls that it made. `fail` holds the errors of the next calls of the deliverer. */
function world() {
  const calls: unknown[] = [];
  const fail: Error[] = [];
  const stopping = new AbortController();
  const called = async (...call: unknown[]): Promise<void> => {
    const error = fail.shift();
    if (error !== undefined) throw error;
    calls.push(call);
  };
  const log = { warn: () => undefined, error: () => undefined };
  const dispatch = new Dispatch({
    deliverer: {
      attemptFirst: (delivery, { waitedMs }) => called("attempt", delivery.id, waitedMs),
      schedule: (delivery, atMs) => called("schedule", delivery.id, atMs),
      abandon: (delivery) => called("abandon", delivery.id),
    },
    ordered: { append: (deliveries) => called("append", deliveries.length) },
    handedOver: { admit: (listener, commit) => called("admit", listener, commit) },
    ports: {
      deliveries: { schedule: (_listener, _event, _text, atMs, messageId) => called("event", atMs, messageId) },
      clock: { now: () => 1_000 },
      log,
    },
    signal: stopping.signal,
  });
  return { dispatch, calls, fail, stopping };
}

const delivery = firstDelivery(event, webhook);

it("attempts a delivery at once, and one of a commit to a source after the source may be handed its event", async () => {
  const { dispatch, calls } = world();
  const commit = { position, queues: undefined };
  await dispatch.attempt(delivery, webhook, 3, { commit });
  await dispatch.attempt(delivery, source, 4, {});
  await dispatch.attempt(delivery, source, 5, { commit });
  const attempts = [3, 4].map((waitedMs) => ["attempt", "e1.sub_1", waitedMs]);
  expect(calls).toEqual([...attempts, ["admit", "dc_2", 7], ["attempt", "e1.sub_1", 5]]);
});

it("schedules a delivery that its pace lets wait, by whole milliseconds", async () => {
  const { dispatch, calls } = world();
  const waits = [0, 20.5, 20.5];
  const pace = { waitMs: () => waits.shift() ?? 0 };
  await dispatch.attempt(delivery, webhook, 0, { pace });
  await dispatch.attempt(delivery, webhook, 0, { pace });
  await dispatch.schedule(delivery, 5_000, { pace });
  expect(calls).toEqual([
    ["attempt", "e1.sub_1", 0],
    ["schedule", "e1.sub_1", 1_021],
    ["schedule", "e1.sub_1", 5_021],
  ]);
});

it("delivers ordered events of a commit by the queues of its partition, and others by those of the replica that holds it", async () => {
  const { dispatch, calls } = world();
  const delivered: (readonly Delivery[])[] = [];
  const queues = { deliver: async (deliveries: readonly Delivery[]) => void delivered.push(deliveries) };
  await dispatch.enqueue([delivery], { commit: { position, queues } });
  await dispatch.enqueue([delivery, delivery], {});
  expect([delivered, calls]).toEqual([[[delivery]], [["append", 2]]]);
  await expect(dispatch.enqueue([delivery], { commit: { position, queues: undefined } })).rejects.toThrow("the partition is closed");
});

it("repeats what NATS does not store, and gives up what it never will", async () => {
  const { dispatch, calls, fail } = world();
  fail.push(new Unavailable("NATS is away"));
  await dispatch.attempt(delivery, webhook, 0, {});
  fail.push(new LimitExceeded("the message is too large"));
  await dispatch.schedule(delivery, 5_000, {});
  expect(calls).toEqual([
    ["attempt", "e1.sub_1", 0],
    ["abandon", "e1.sub_1"],
  ]);
});

it("repeats what stores an event of a commit, and not what stores a due event again, whose message is repeated", async () => {
  const { dispatch, calls, fail } = world();
  const scheduled = { event: { ...event, deliverAt: 9_000 }, listedId: "1-0", position };
  fail.push(new Unavailable("NATS is away"));
  await dispatch.scheduleEvent(scheduled);
  fail.push(new Unavailable("NATS is away"));
  await expect(dispatch.rescheduleEvent(scheduled, 10_000)).rejects.toThrow("NATS is away");
  await dispatch.rescheduleEvent({ ...scheduled, dueSequence: 7 }, 10_000);
  expect(calls).toEqual([
    ["event", 9_000, "e1@9000"],
    ["event", 10_000, "e1@10000.7"],
  ]);
});

it("rejects when delivery stops before a delivery is settled", async () => {
  const { dispatch, fail, stopping } = world();
  fail.push(new Unavailable("NATS is away"), new Unavailable("NATS is away"));
  stopping.abort();
  await expect(dispatch.attempt(delivery, webhook, 0, {})).rejects.toThrow("stopped before the delivery was settled");
});

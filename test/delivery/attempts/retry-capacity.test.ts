import { expect, it } from "vitest";
import { firstDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import type { StreamUsage } from "../../../domain/limits/stream-share.ts";
import { RetryCapacity } from "../../../delivery/attempts/retry-capacity.ts";

const bytesOfOne = 10_000;
function deliveryOf(owner: string): Delivery {
  const event = { emitId: "e1", eventId: "1-1", source: "dc_1", owner, channel: "", ts: 1, payload: "x".repeat(bytesOfOne - 512) };
  const listener = { kind: "webhook", id: "wh_1", url: "http://a", keys: [] } as const;
  return firstDelivery(event, { subscription: "sub_1", owner, emitter: "dc_1", channel: "", listener });
}

it("refuses the owner with the most stored bytes first, and no owner while the stream is at most half full", () => {
  let usage: StreamUsage | undefined = { bytes: 20 * bytesOfOne, maxBytes: 100 * bytesOfOne };
  const capacity = new RetryCapacity(() => usage);
  const [flood, other] = [deliveryOf("u_flood"), deliveryOf("u_other")];
  for (let n = 0; n < 40; n++) {
    expect(capacity.hasCapacityFor(flood)).toBe(true);
    capacity.stored(flood);
  }
  usage = { ...usage, bytes: 51 * bytesOfOne };
  expect([capacity.hasCapacityFor(flood), capacity.hasCapacityFor(other)]).toEqual([false, true]);
  for (let n = 0; n < 16; n++) capacity.removed(flood);
  expect(capacity.hasCapacityFor(flood)).toBe(true);
  usage = { ...usage, bytes: 101 * bytesOfOne };
  for (let n = 0; n < 3; n++) capacity.stored(other);
  expect([capacity.hasCapacityFor(flood), capacity.hasCapacityFor(other), capacity.hasCapacityFor(deliveryOf("u_third"))]).toEqual([
    false,
    false,
    true,
  ]);
  usage = undefined;
  expect(capacity.hasCapacityFor(flood)).toBe(true);
});

it("restarts its counts when the stream is nearly empty, because other replicas deliver what this one stored", () => {
  let usage: StreamUsage = { bytes: 20 * bytesOfOne, maxBytes: 100 * bytesOfOne };
  const capacity = new RetryCapacity(() => usage);
  const flood = deliveryOf("u_flood");
  for (let n = 0; n < 40; n++) capacity.stored(flood);
  usage = { ...usage, bytes: 5 * bytesOfOne };
  capacity.stored(flood);
  usage = { ...usage, bytes: 60 * bytesOfOne };
  expect(capacity.hasCapacityFor(flood)).toBe(true);
});

import { expect, it } from "vitest";
import { firstDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import type { StreamUsage } from "../../../delivery/attempts/ports.ts";
import { RetryCapacity } from "../../../delivery/attempts/retry-capacity.ts";

const bytesOfOne = 10_000;
function deliveryOf(owner: string): Delivery {
  const event = { emitId: "e1", eventId: "1-1", source: "dc_1", owner, channel: "", ts: 1, payload: "x".repeat(bytesOfOne - 512) };
  const listener = { kind: "webhook", id: "wh_1", url: "http://a", keys: [] } as const;
  return firstDelivery(event, { subscription: "sub_1", owner, emitter: "dc_1", channel: "", listener });
}

it("refuses the owner whose deliveries hold the most first, and nobody while half of the store is free", () => {
  let usage: StreamUsage | undefined = { bytes: 20 * bytesOfOne, maxBytes: 100 * bytesOfOne };
  const room = new RetryCapacity(() => usage);
  const [flood, other] = [deliveryOf("u_flood"), deliveryOf("u_other")];
  for (let n = 0; n < 40; n++) {
    expect(room.hasRoomFor(flood)).toBe(true);
    room.stored(flood);
  }
  usage = { ...usage, bytes: 51 * bytesOfOne };
  expect([room.hasRoomFor(flood), room.hasRoomFor(other)]).toEqual([false, true]);
  for (let n = 0; n < 16; n++) room.removed(flood);
  expect(room.hasRoomFor(flood)).toBe(true);
  usage = { ...usage, bytes: 101 * bytesOfOne };
  for (let n = 0; n < 3; n++) room.stored(other);
  expect([room.hasRoomFor(flood), room.hasRoomFor(other), room.hasRoomFor(deliveryOf("u_third"))]).toEqual([false, false, true]);
  usage = undefined;
  expect(room.hasRoomFor(flood)).toBe(true);
});

it("begins to count again whenever the store is nearly empty, since other replicas deliver what this one has stored", () => {
  let usage: StreamUsage = { bytes: 20 * bytesOfOne, maxBytes: 100 * bytesOfOne };
  const room = new RetryCapacity(() => usage);
  const flood = deliveryOf("u_flood");
  for (let n = 0; n < 40; n++) room.stored(flood);
  usage = { ...usage, bytes: 5 * bytesOfOne };
  room.stored(flood);
  usage = { ...usage, bytes: 60 * bytesOfOne };
  expect(room.hasRoomFor(flood)).toBe(true);
});

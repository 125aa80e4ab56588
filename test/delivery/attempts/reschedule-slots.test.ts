import { expect, it } from "vitest";
import { RescheduleSlots } from "../../../delivery/attempts/reschedule-slots.ts";

it("gives each owner one slot after the other, at least a second from now and at most 200 a second", () => {
  const slots = new RescheduleSlots();
  expect([slots.next("u_1", 0), slots.next("u_1", 0), slots.next("u_2", 0), slots.next("u_1", 2)]).toEqual([1_000, 1_005, 1_000, 1_010]);
  expect(slots.next("u_1", 60_000)).toBe(61_000);
});

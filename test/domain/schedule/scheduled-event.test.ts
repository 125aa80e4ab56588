import fc from "fast-check";
import { expect, it } from "vitest";
import { isEventId, parseEventId } from "../../../domain/event/event-id.ts";
import { dueEventId, isScheduled } from "../../../domain/schedule/scheduled-event.ts";

it("an event is scheduled when it is due after its commit", () => {
  expect(isScheduled({ id: "5000-0", deliverAt: 5_001 })).toBe(true);
  for (const event of [{ id: "5000-0" }, { id: "5000-0", deliverAt: 5_000 }, { id: "forged", deliverAt: 9e12 }])
    expect(isScheduled(event)).toBe(false);
});

it("the id of a due event is valid, contains the due time, and differs from other ids of that millisecond", () => {
  const ms = fc.integer({ min: 0, max: 4e12 });
  const scheduled = fc.record({ ms, sequence: fc.integer({ min: 0, max: 9_999 }), delayMs: fc.integer({ min: 1, max: 9e10 }) });
  fc.assert(
    fc.property(fc.uniqueArray(scheduled, { selector: (one) => `${one.ms}-${one.sequence}` }), (events) => {
      const ids = events.map(({ ms: at, sequence, delayMs }) => dueEventId({ id: `${at}-${sequence}`, deliverAt: at + delayMs }));
      for (const [index, id] of ids.entries()) {
        expect(isEventId(id)).toBe(true);
        expect(parseEventId(id).ms).toBe((events[index]?.ms ?? 0) + (events[index]?.delayMs ?? 0));
        expect(parseEventId(id).sequence).toBeGreaterThanOrEqual(10_000);
      }
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

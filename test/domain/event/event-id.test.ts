import fc from "fast-check";
import { expect, test } from "vitest";
import { compareEventIds, eventIdOfRun, isEventId, nextEventId, parseEventId } from "../../../domain/event/event-id.ts";

const ms = fc.integer({ min: 0, max: 4_000_000_000_000 });

test("ids grow strictly even when the clock steps back", () => {
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1 }), (times) => {
      let last: string | null = null;
      for (const now of times) {
        const next: string = nextEventId(last, now);
        if (last !== null) expect(compareEventIds(next, last)).toBeGreaterThan(0);
        expect(parseEventId(next).ms).toBe(Math.max(now, last === null ? 0 : parseEventId(last).ms));
        last = next;
      }
    }),
  );
});

test("events of runs that end in the same millisecond have different ids", () => {
  const runs = Array.from({ length: 300 }, (_, n) => `r_${n.toString(36)}`);
  const ids = runs.flatMap((run) => [0, 1, 9_999].map((index) => eventIdOfRun(run, index, 1_700_000_000_000)));
  expect(ids.every(isEventId)).toBe(true);
  expect(new Set(ids).size).toBe(900);
});

test("ids order by time, then by sequence, as numbers", () => {
  fc.assert(
    fc.property(ms, fc.nat(), ms, fc.nat(), (a, i, b, j) => {
      expect(Math.sign(compareEventIds(`${a}-${i}`, `${b}-${j}`))).toBe(Math.sign(a === b ? i - j : a - b));
    }),
  );
  expect(compareEventIds("1-10", "1-9")).toBeGreaterThan(0);
});

test.each(["", "1", "1-", "-1", "1-2-3", "a-1", "1.5-0", " 1-0"])("%j is no event id", (text) => {
  expect(isEventId(text)).toBe(false);
  expect(() => parseEventId(text)).toThrow("must be <epoch milliseconds>-<sequence>");
});

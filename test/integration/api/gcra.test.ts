import fc from "fast-check";
import { expect, test } from "vitest";
import { Gcra } from "../../../api/http/access/gcra.ts";

function clockAt(start: number) {
  const clock = { time: start, now: () => clock.time };
  return clock;
}

test("allows a burst, then one request per interval", () => {
  const clock = clockAt(1_000);
  const gcra = new Gcra({ requests: 4, windowMs: 400 }, clock);
  const take = (): boolean => gcra.take("a").allowed;
  expect([take(), take(), take(), take(), take()]).toEqual([true, true, true, true, false]);
  expect(gcra.take("a")).toEqual({ allowed: false, used: 5, resetAt: 1_100 });
  clock.time = 1_099;
  expect(take()).toBe(false);
  clock.time = 1_100;
  expect([take(), take()]).toEqual([true, false]);
  expect(gcra.take("b")).toEqual({ allowed: true, used: 1, resetAt: 1_200 });
});

/**
 * Within any span of time, at most the burst and the refill of the span are allowed; and a caller at or under the rate is
 * never refused. Method: random waits, checked over all pairs of accepted requests.
 */
test("never exceeds the rate", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 60 }),
      (requests, interval, waits) => {
        const clock = clockAt(5_000);
        const gcra = new Gcra({ requests, windowMs: requests * interval }, clock);
        const accepted: number[] = [];
        for (const wait of waits) {
          clock.time += wait;
          const { allowed, resetAt, used } = gcra.take("k");
          if (allowed) accepted.push(clock.time);
          expect(resetAt).toBeGreaterThan(clock.time);
          expect(used > requests).toBe(!allowed);
        }
        const spans = accepted.flatMap((from, i) => accepted.slice(i).map((to, more) => ({ requests: more + 1, spanMs: to - from })));
        expect(spans.filter((span) => span.requests > requests + Math.floor(span.spanMs / interval))).toEqual([]);
      },
    ),
  );
});

test("removes keys with full buckets", () => {
  const clock = clockAt(0);
  const gcra = new Gcra({ requests: 1, windowMs: 10 }, clock);
  for (let n = 0; n < 10_000; n++) {
    clock.time += 1;
    gcra.take(`key-${n}`);
  }
  expect(gcra.size).toBeLessThan(1_100);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { billingPeriodOf, dayOf, exceededUntil, type Quotas } from "../../../domain/limits/quota.ts";

const times = fc.date({ min: new Date("1969-01-01"), max: new Date("2400-01-01"), noInvalidDate: true }).map((date) => date.getTime());
const quota = fc.option(fc.nat(5));
const quotas: fc.Arbitrary<Quotas> = fc.record({
  dailyInvocations: quota,
  dailyComputeMs: fc.option(fc.nat(50)),
});
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe("quotas", () => {
  /** Oracle: the date in ISO 8601 form. */
  it("count by UTC day", () => {
    fc.assert(
      fc.property(times, (ms) => {
        const { startMs, endMs } = dayOf(ms);
        expect(new Date(startMs).toISOString()).toBe(`${isoDay(ms)}T00:00:00.000Z`);
        expect([isoDay(endMs - 1), isoDay(endMs) > isoDay(ms)]).toEqual([isoDay(ms), true]);
      }),
    );
  });

  it("have billing periods without gaps, each of whole days in one month", () => {
    fc.assert(
      fc.property(times, (ms) => {
        const { startMs, endMs } = billingPeriodOf(ms);
        expect(startMs <= ms && ms < endMs).toBe(true);
        expect([dayOf(startMs).startMs, dayOf(endMs).startMs]).toEqual([startMs, endMs]);
        expect([isoDay(startMs).slice(0, 7), isoDay(endMs - 1).slice(0, 7)]).toEqual([isoDay(ms).slice(0, 7), isoDay(ms).slice(0, 7)]);
        expect(billingPeriodOf(endMs).startMs).toBe(endMs);
      }),
    );
  });

  /** Method: the rule admits runs at random times; compared with a count of runs of the same date. */
  it("block exactly the runs after they are used up, until midnight", () => {
    const run = fc.record({ afterMs: fc.nat(20_000_000), tookMs: fc.nat(20) });
    fc.assert(
      fc.property(quotas, times, fc.array(run, { maxLength: 40 }), (given, startMs, runs) => {
        let now = startMs;
        const ran: { readonly day: string; readonly tookMs: number }[] = [];
        for (const { afterMs, tookMs } of runs) {
          now += afterMs;
          const today = ran.filter(({ day }) => day === isoDay(now));
          const use = { runs: today.length, computeMs: today.reduce((sum, run) => sum + run.tookMs, 0) };
          const until = exceededUntil(given, use, now);
          const isLeft =
            use.runs < (given.dailyInvocations ?? Number.POSITIVE_INFINITY) &&
            use.computeMs < (given.dailyComputeMs ?? Number.POSITIVE_INFINITY);
          expect(until === null).toBe(isLeft);
          if (until === null) ran.push({ day: isoDay(now), tookMs });
          else expect([isoDay(until - 1), isoDay(until) > isoDay(now)]).toEqual([isoDay(now), true]);
        }
        const most = Math.max(0, ...Object.values(Object.groupBy(ran, ({ day }) => day)).map((of) => of?.length ?? 0));
        expect(most).toBeLessThanOrEqual(given.dailyInvocations ?? Number.POSITIVE_INFINITY);
      }),
    );
  });
});

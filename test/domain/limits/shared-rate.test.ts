import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedRate } from "../../../domain/limits/shared-rate.ts";

describe("a share of a rate", () => {
  it("has two seconds of its rate at once, and then what is refilled", () => {
    const share = new SharedRate({ total: 100, share: 10 }).open();
    expect([share.use(20, 0), share.use(1, 0), share.use(1, 99)]).toEqual([true, false, true]);
    expect(share.use(1, 100)).toBe(false);
  });

  it("may use more than it has left, and waits until that is refilled", () => {
    const share = new SharedRate({ total: 100, share: 10 }).open();
    expect(share.use(50, 0)).toBe(true);
    expect([share.use(1, 2_900), share.use(1, 3_100)]).toEqual([false, true]);
  });

  it("becomes smaller with each other share, and larger again", () => {
    const rate = new SharedRate({ total: 30, share: 20 });
    const shares = [rate.open(), rate.open(), rate.open()];
    expect(rate.perSecond).toBe(10);
    shares[0]?.close();
    shares[0]?.close();
    expect(rate.perSecond).toBe(15);
    shares[1]?.close();
    expect(rate.perSecond).toBe(20);
  });

  /** Oracle: the sum. Method: any uses at any times, none larger than a second of a share. */
  it("lets all together use no more than the total and their bursts", () => {
    const uses = fc.array(fc.record({ nth: fc.nat(3), amount: fc.integer({ min: 1, max: 10 }), afterMs: fc.nat(500) }), { maxLength: 200 });
    fc.assert(
      fc.property(uses, (given) => {
        const rate = new SharedRate({ total: 40, share: 10 });
        const shares = Array.from({ length: 4 }, () => rate.open());
        let [nowMs, used] = [0, 0];
        for (const { nth, amount, afterMs } of given) {
          nowMs += afterMs;
          if (shares[nth]?.use(amount, nowMs) === true) used += amount;
        }
        expect(used).toBeLessThanOrEqual((40 * nowMs) / 1_000 + 4 * (20 + 10));
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedRate } from "../../../domain/limits/shared-rate.ts";

describe("a share of a rate", () => {
  it("has two seconds of its rate at once, and then what is refilled", () => {
    const share = new SharedRate({ total: 100, share: 10 }).open("u_1", 0);
    expect([share.use(20, 0), share.use(1, 0), share.use(1, 99)]).toEqual([true, false, false]);
    expect([share.use(1, 100), share.use(1, 199), share.use(1, 200)]).toEqual([true, false, true]);
  });

  it("may use more than its burst only when it is full, and waits until that is refilled", () => {
    const share = new SharedRate({ total: 100, share: 10 }).open("u_1", 0);
    expect([share.use(1, 0), share.use(50, 0), share.use(50, 100)]).toEqual([true, false, true]);
    expect([share.use(1, 3_100), share.use(1, 3_200)]).toEqual([false, true]);
  });

  it("becomes smaller with each other share, and larger again", () => {
    const rate = new SharedRate({ total: 30, share: 20 });
    const shares = ["u_1", "u_2", "u_3"].map((name) => rate.open(name, 0));
    expect(rate.perSecond).toBe(10);
    shares[0]?.close();
    shares[0]?.close();
    expect(rate.perSecond).toBe(15);
    shares[1]?.close();
    expect(rate.perSecond).toBe(20);
  });

  it("is one for all entries of a holder, until the last of them is closed", () => {
    const rate = new SharedRate({ total: 30, share: 10 });
    const [one, other] = [rate.open("u_1", 0), rate.open("u_1", 0)];
    rate.open("u_2", 0);
    expect([rate.perSecond, one.use(20, 0), other.use(1, 0)]).toEqual([10, true, false]);
    for (const name of ["u_3", "u_4", "u_5"]) rate.open(name, 0);
    one.close();
    one.close();
    expect([rate.perSecond, other.use(1, 200)]).toEqual([6, true]);
    other.close();
    expect(rate.perSecond).toBe(7.5);
  });

  it("is not refilled by opening it again", () => {
    const rate = new SharedRate({ total: 100, share: 10 });
    const first = rate.open("u_1", 0);
    expect(first.use(20, 0)).toBe(true);
    first.close();
    const second = rate.open("u_1", 50);
    expect(second.use(1, 50)).toBe(false);
    second.close();
    expect(rate.open("u_2", 1_000).use(20, 1_000)).toBe(true);
    expect(rate.open("u_1", 3_000).use(20, 3_000)).toBe(true);
  });

  it("refills first what was charged beside it", () => {
    const share = new SharedRate({ total: 100, share: 10 }).open("u_1", 0);
    expect(share.use(1, 0)).toBe(true);
    share.charge(39);
    expect([share.use(1, 2_000), share.use(1, 2_100)]).toEqual([false, true]);
  });

  /** Oracle: the sum. Method: random uses at random times, none larger than a second of a share. */
  it("lets all together use no more than the total and their bursts", () => {
    const uses = fc.array(fc.record({ nth: fc.nat(3), amount: fc.integer({ min: 1, max: 10 }), afterMs: fc.nat(500) }), { maxLength: 200 });
    fc.assert(
      fc.property(uses, (given) => {
        const rate = new SharedRate({ total: 40, share: 10 });
        const shares = Array.from({ length: 4 }, (_, nth) => rate.open(`u_${nth}`, 0));
        let [nowMs, used] = [0, 0];
        for (const { nth, amount, afterMs } of given) {
          nowMs += afterMs;
          if (shares[nth]?.use(amount, nowMs) === true) used += amount;
        }
        expect(used).toBeLessThanOrEqual((40 * nowMs) / 1_000 + 4 * 20);
      }),
    );
  });
});

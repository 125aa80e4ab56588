import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Budget, type BudgetEntry } from "../../../domain/limits/budget.ts";

describe("Budget", () => {
  it("grants at most the total, and reuses released amounts", () => {
    const budget = new Budget({ total: 10 });
    const [first, second] = [budget.open("a"), budget.open("b")];
    expect([first.take(6), second.take(5), second.take(4), second.take(1)]).toEqual([true, false, true, false]);
    first.release();
    first.release();
    expect([budget.used, second.take(6), budget.used]).toEqual([4, true, 10]);
  });

  it("does not cut off an entry that has taken nothing: that makes no room", () => {
    const budget = new Budget({ total: 10 });
    let cuts = 0;
    const empty = budget.open("large", () => ++cuts > 0);
    expect([empty.take(0), budget.open("large").take(10), budget.open("small").take(1)]).toEqual([true, true, false]);
    empty.release();
    expect([cuts, budget.usedBy("large")]).toEqual([0, 10]);
  });

  it("bounds each holder by its share, over all of its entries", () => {
    const budget = new Budget({ total: 10, share: 4 });
    const [first, second, other] = [budget.open("a"), budget.open("a"), budget.open("b")];
    expect([first.take(3), second.take(2), second.take(1), other.take(4)]).toEqual([true, false, true, true]);
  });

  it("cuts off the oldest entry of the largest holder for one that has less", () => {
    const budget = new Budget({ total: 10 });
    const cut: string[] = [];
    const open = (holder: string, name: string, amount: number): BudgetEntry => {
      const entry = budget.open(holder, () => {
        cut.push(name);
        return true;
      });
      expect(entry.take(amount)).toBe(true);
      return entry;
    };
    open("large", "first", 4);
    const second = open("large", "second", 4);
    open("small", "small", 2);
    open("new", "new", 3);
    expect([cut, budget.used]).toEqual([["first"], 9]);
    // The largest holder itself gets no more at the expense of others.
    expect([second.take(2), second.take(1), cut]).toEqual([false, true, ["first"]]);
  });

  it("skips entries that cannot be cut off, and refuses when none can", () => {
    const budget = new Budget({ total: 4 });
    const cut: string[] = [];
    const busy = budget.open("a", () => false);
    const idle = budget.open("a", () => cut.push("idle") > 0);
    expect([busy.take(3), idle.take(1), budget.open("b").take(1), cut]).toEqual([true, true, true, ["idle"]]);
    expect([budget.open("b").take(1), budget.used]).toEqual([false, 4]);
  });

  it("accepts a cut that releases the entry itself", () => {
    const budget = new Budget({ total: 4 });
    const entry: BudgetEntry = budget.open("a", () => {
      entry.release();
      return true;
    });
    expect([entry.take(4), budget.open("b").take(3), budget.used]).toEqual([true, true, 3]);
  });

  it("cuts off an entry by force only if the holder has no other", () => {
    const budget = new Budget({ total: 4 });
    const cut: string[] = [];
    const busy = budget.open("a", (isForced) => isForced && cut.push("busy") > 0);
    const idle = budget.open("a", () => cut.push("idle") > 0);
    expect([busy.take(2), idle.take(2), budget.open("b").take(1), cut]).toEqual([true, true, true, ["idle"]]);
    expect([budget.open("c").take(2), budget.open("c").take(1), cut]).toEqual([false, true, ["idle"]]);
    expect([budget.open("d").take(1), cut, budget.used]).toEqual([true, ["idle", "busy"], 3]);
  });

  it("gives back a part of an entry, which can still be cut off", () => {
    const budget = new Budget({ total: 4 });
    const entry = budget.open("a", () => true);
    expect(entry.take(4)).toBe(true);
    entry.release(1);
    expect([entry.amount, budget.usedBy("a"), budget.open("b").take(2), budget.usedBy("a")]).toEqual([3, 3, true, 0]);
  });

  it("moves an entry to another holder, whatever that one has", () => {
    const budget = new Budget({ total: 4, share: 2 });
    const [first, second] = [budget.open("a"), budget.open("b")];
    expect([first.take(2), second.take(2)]).toEqual([true, true]);
    second.move("a");
    expect([budget.usedBy("a"), budget.usedBy("b"), second.holder, first.take(1)]).toEqual([4, 0, "a", false]);
    second.release();
    second.move("b");
    expect([budget.usedBy("a"), budget.usedBy("b")]).toEqual([2, 0]);
  });

  /** Method: random takes, releases and cuts, compared with a list of each entry's amount. */
  it("never exceeds the total or a share, and never loses a released amount", () => {
    const step = fc.record({ holder: fc.constantFrom("a", "b", "c"), amount: fc.integer({ min: 1, max: 8 }), release: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, canCut) => {
        const budget = new Budget({ total: 20, share: 12 });
        const live = new Map<BudgetEntry, { holder: string; amount: number }>();
        for (const { holder, amount, release } of steps) {
          const entry: BudgetEntry = budget.open(holder, canCut ? () => live.delete(entry) : undefined);
          if (entry.take(amount)) live.set(entry, { holder, amount });
          const old = [...live.keys()][release];
          if (old !== undefined) {
            old.release();
            live.delete(old);
          }
          const held = [...live.values()];
          const sum = (of: typeof held): number => of.reduce((total, { amount: each }) => total + each, 0);
          expect(budget.used).toBe(sum(held));
          expect(sum(held)).toBeLessThanOrEqual(20);
          for (const name of ["a", "b", "c"]) expect(sum(held.filter((each) => each.holder === name))).toBeLessThanOrEqual(12);
        }
      }),
    );
  });
});

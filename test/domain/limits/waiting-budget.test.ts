import { describe, expect, it } from "vitest";
import { WaitingBudget } from "../../../domain/limits/waiting-budget.ts";

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("WaitingBudget", () => {
  it("lets a holder at its share wait, and grants other holders at once", async () => {
    const budget = new WaitingBudget({ total: 10, share: 4 });
    const granted: string[] = [];
    const open = (holder: string) => budget.open(holder, () => false);
    const take = (name: string, amount: number, entry = open(name)): Promise<unknown> =>
      entry.take(amount, never).then(() => granted.push(name));
    const first = open("a");
    await take("a", 4, first);
    const waits = take("a", 3);
    await take("b", 4);
    await turn();
    expect([granted, budget.used]).toEqual([["a", "b"], 8]);
    first.shrink(2);
    await turn();
    expect(granted).toEqual(["a", "b"]);
    first.shrink(1);
    await waits;
    expect([granted, budget.used]).toEqual([["a", "b", "a"], 8]);
  });

  it("grants waiting holders in turn, and callers of a holder in order", async () => {
    const budget = new WaitingBudget({ total: 1 });
    const granted: string[] = [];
    const entries = new Map(["x", "a1", "a2", "b1"].map((name) => [name, budget.open(name[0] ?? "", () => false)]));
    const taken = [...entries].map(([name, entry]) => entry.take(1, never).then(() => granted.push(name)));
    for (const name of ["x", "a1", "b1"]) {
      await turn();
      entries.get(name)?.shrink();
    }
    await Promise.all(taken);
    expect(granted).toEqual(["x", "a1", "b1", "a2"]);
  });

  it("forgets a caller whose signal aborts", async () => {
    const budget = new WaitingBudget({ total: 1 });
    const [held, left, next] = [budget.open("a", () => false), budget.open("a", () => false), budget.open("a", () => false)];
    await held.take(1, never);
    const leaving = new AbortController();
    const waits = left.take(1, leaving.signal);
    const follows = next.take(1, never);
    leaving.abort(new Error("gone"));
    await expect(waits).rejects.toThrow("gone");
    held.shrink();
    await follows;
    expect(budget.used).toBe(1);
  });
});

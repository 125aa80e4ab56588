import { expect, it } from "vitest";
import { largeCommitsInTurn } from "../../../runner/commit/large-commits.ts";
import type { Histories } from "../../../runner/ports.ts";

const [small, large] = ["x".repeat(1_000), "x".repeat(500_000)];

/** Appends that end when the test says so, and a clock of its own. */
function byHand() {
  const [sent, ends]: [string[], (() => void)[]] = [[], []];
  const timers: { readonly at: number; readonly action: () => void }[] = [];
  let now = 0;
  const appended = (source: string): ReturnType<Histories["append"]> => {
    sent.push(source);
    return new Promise((resolve) => ends.push(() => resolve({ outcome: "stored", sequence: sent.length })));
  };
  const histories = largeCommitsInTurn(
    { last: async () => ({ commit: undefined, sequence: 0 }), append: (_owner, source) => appended(source) },
    { now: () => now, after: (ms, action) => void timers.push({ at: now + ms, action }) },
  );
  return {
    sent,
    send: (owner: string, source: string, commit: string) => void histories.append(owner, source, commit, 0),
    /** The append sent as the n-th ends so many ms later. */
    end: async (n: number, afterMs: number) => {
      now += afterMs;
      ends[n]?.();
      await turn();
    },
    pass: async (ms: number) => {
      now += ms;
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.action();
        else timers.push(timer);
      }
      await turn();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("lets an owner who is alone send whatever it has at once", () => {
  const { sent, send } = byHand();
  for (const source of ["a1", "a2", "a3"]) send("a", source, large);
  expect(sent).toEqual(["a1", "a2", "a3"]);
});

it("sends large commits one at a time beside others, each owner in turn, and small ones at once", async () => {
  const { sent, send, end, pass } = byHand();
  send("b", "b0", small);
  for (const source of ["a1", "a2", "a3"]) send("a", source, large);
  send("b", "b1", large);
  send("b", "b2", small);
  await turn();
  expect(sent).toEqual(["b0", "b2", "a1"]);
  await end(2, 10);
  expect(sent).toHaveLength(3);
  await pass(29);
  expect(sent).toHaveLength(3); // The way is free for three times as long as it took.
  await pass(1);
  expect(sent).toEqual(["b0", "b2", "a1", "b1"]);
  await end(3, 1_000);
  await pass(250); // At most.
  expect(sent).toEqual(["b0", "b2", "a1", "b1", "a2"]);
});

it("goes on after one that failed", async () => {
  let fails = true;
  const histories = largeCommitsInTurn(
    {
      last: async () => ({ commit: undefined, sequence: 0 }),
      append: async () => {
        if (!fails) return { outcome: "stored", sequence: 1 };
        fails = false;
        throw new Error("out of reach");
      },
    },
    { now: () => 0, after: (_ms, action) => setImmediate(action) },
  );
  await Promise.allSettled([histories.append("b", "b1", small, 0)]);
  fails = true;
  const both = await Promise.allSettled([histories.append("a", "a1", large, 0), histories.append("a", "a2", large, 0)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

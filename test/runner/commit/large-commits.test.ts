import { expect, it } from "vitest";
import { limitLargeCommits } from "../../../runner/commit/large-commits.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";

const [small, large] = ["x".repeat(1_000), "x".repeat(500_000)];

/** A store whose appends end when the test says so, with a simulated clock. */
function manualStore() {
  const [sent, ends]: [string[], (() => void)[]] = [[], []];
  const timers: { readonly at: number; readonly action: () => void }[] = [];
  let now = 0;
  const appended = (source: string): ReturnType<CommitStore["append"]> => {
    sent.push(source);
    return new Promise((resolve) => ends.push(() => resolve({ outcome: "stored", sequence: sent.length })));
  };
  const commits = limitLargeCommits(
    {
      end: () => Promise.resolve(),
      endDeleted: () => Promise.resolve(),
      last: async () => ({ commit: undefined, sequence: 0 }),
      append: (_owner, source) => appended(source),
    },
    { now: () => now, after: (ms, action) => void timers.push({ at: now + ms, action }) },
  );
  return {
    sent,
    send: (owner: string, source: string, commit: string) => void commits.append(owner, source, commit, 0),
    /** Ends the n-th append after so many ms. */
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

it("sends all commits of an owner at once while no other owner is active", () => {
  const { sent, send } = manualStore();
  for (const source of ["a1", "a2", "a3"]) send("a", source, large);
  expect(sent).toEqual(["a1", "a2", "a3"]);
});

it("sends large commits one at a time beside another owner, owners in turn, and small ones at once", async () => {
  const { sent, send, end, pass } = manualStore();
  send("b", "b0", small);
  for (const source of ["a1", "a2", "a3"]) send("a", source, large);
  send("b", "b1", large);
  send("b", "b2", small);
  await turn();
  expect(sent).toEqual(["b0", "b2", "a1"]);
  await end(2, 10);
  expect(sent).toHaveLength(3);
  await pass(29);
  expect(sent).toHaveLength(3); // The pause is three times as long as the commit took.
  await pass(1);
  expect(sent).toEqual(["b0", "b2", "a1", "b1"]);
  await end(3, 1_000);
  await pass(250); // The longest pause.
  expect(sent).toEqual(["b0", "b2", "a1", "b1", "a2"]);
});

it("continues after a failed commit", async () => {
  let fails = true;
  const commits = limitLargeCommits(
    {
      end: () => Promise.resolve(),
      endDeleted: () => Promise.resolve(),
      last: async () => ({ commit: undefined, sequence: 0 }),
      append: async () => {
        if (!fails) return { outcome: "stored", sequence: 1 };
        fails = false;
        throw new Error("NATS is down");
      },
    },
    { now: () => 0, after: (_ms, action) => setImmediate(action) },
  );
  await Promise.allSettled([commits.append("b", "b1", small, 0)]);
  fails = true;
  const both = await Promise.allSettled([commits.append("a", "a1", large, 0), commits.append("a", "a2", large, 0)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

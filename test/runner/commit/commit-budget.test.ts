import { afterEach, expect, it } from "vitest";
import { CommitBudget } from "../../../runner/commit/commit-budget.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";
import { until } from "../../support/until.ts";

const budgets: CommitBudget[] = [];
afterEach(() => {
  for (const budget of budgets.splice(0)) budget.stop();
});

/** A budget for commits of 100 bytes. `floor.upTo` is the last sequence that delivery has processed. */
function start(maxOwnerBytes: number) {
  let sequence = 0;
  const changes: string[] = [];
  const floor = { reads: 0, upTo: 0 };
  const budget = new CommitBudget(
    { upTo: () => (floor.reads++, Promise.resolve(Array.from({ length: partitionCount }, () => floor.upTo))) },
    { maxOwnerBytes, onChange: (owner, isOver) => changes.push(`${owner} ${isOver ? "over" : "within"}`) },
  );
  budgets.push(budget);
  const commits: CommitStore = {
    end: () => Promise.resolve(),
    endDeleted: () => Promise.resolve(),
    last: () => Promise.resolve({ commit: undefined, sequence: 0 }),
    append: async (_owner, source) => (source === "refused" ? { outcome: "refused" } : { outcome: "stored", sequence: ++sequence }),
  };
  const counting = budget.counting(commits);
  const append = (owner: string, source = "dc_1") => counting.append(owner, source, "x".repeat(100), 0);
  return { budget, changes, floor, append };
}

it("reports an owner over the budget, and within it once half of its commits are processed", async () => {
  const { budget, changes, floor, append } = start(400);
  for (let n = 0; n < 5; n++) await append("a");
  expect(changes).toEqual(["a over"]);
  await append("b");
  expect([budget.isOver("a"), budget.isOver("b")]).toEqual([true, false]);
  floor.upTo = 2;
  const { reads } = floor;
  await until(() => floor.reads > reads + 1, "the floors are read again");
  expect(changes).toEqual(["a over"]);
  floor.upTo = 3;
  await until(() => changes.length === 2, "two commits are left");
  expect(changes).toEqual(["a over", "a within"]);
});

it("counts neither refused nor processed commits, and reads no floors while little is counted", async () => {
  const { changes, floor, append } = start(1_000);
  for (let n = 0; n < 20; n++) await append("a", "refused");
  for (let n = 0; n < 2; n++) await append("a");
  expect([changes, floor.reads]).toEqual([[], 0]);
  floor.upTo = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 8; n++) await append("a");
  await until(() => floor.reads > 0, "the floors are read");
  for (let n = 0; n < 10; n++) await append("a");
  expect(changes).toEqual([]);
});

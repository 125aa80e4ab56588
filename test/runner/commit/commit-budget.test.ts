import { afterEach, expect, it } from "vitest";
import { CommitBudget } from "../../../runner/commit/commit-budget.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import type { Histories } from "../../../runner/ports.ts";
import { until } from "../../integration/jetstream/support.ts";

const budgets: CommitBudget[] = [];
afterEach(() => {
  for (const budget of budgets.splice(0)) budget.stop();
});

/** Commits of 100 bytes, stored under the next sequence; delivery has come as far as `processed` says. */
function start(ownerBytes: number) {
  let sequence = 0;
  const told: string[] = [];
  const asked = { times: 0, upTo: 0 };
  const budget = new CommitBudget(
    { upTo: () => (asked.times++, Promise.resolve(Array.from({ length: partitionCount }, () => asked.upTo))) },
    { ownerBytes, onChange: (owner, isOver) => told.push(`${owner} ${isOver ? "over" : "within"}`) },
  );
  budgets.push(budget);
  const histories: Histories = {
    last: () => Promise.resolve({ commit: undefined, sequence: 0 }),
    append: async (_owner, source) => (source === "refused" ? { outcome: "refused" } : { outcome: "stored", sequence: ++sequence }),
  };
  const counting = budget.counting(histories);
  const append = (owner: string, source = "dc_1") => counting.append(owner, source, "x".repeat(100), 0);
  return { budget, told, asked, append };
}

it("stops an owner whose commits are not processed, and lets it go on once half of them are", async () => {
  const { budget, told, asked, append } = start(400);
  for (let n = 0; n < 5; n++) await append("a");
  expect(told).toEqual(["a over"]);
  await append("b");
  expect([budget.isOver("a"), budget.isOver("b")]).toEqual([true, false]);
  asked.upTo = 2;
  const { times } = asked;
  await until(() => asked.times > times + 1, "asked again");
  expect(told).toEqual(["a over"]);
  asked.upTo = 3;
  await until(() => told.length === 2, "two commits are left");
  expect(told).toEqual(["a over", "a within"]);
});

it("counts neither refused commits nor processed ones, and asks nothing while little is counted", async () => {
  const { told, asked, append } = start(1_000);
  for (let n = 0; n < 20; n++) await append("a", "refused");
  for (let n = 0; n < 2; n++) await append("a");
  expect([told, asked.times]).toEqual([[], 0]);
  asked.upTo = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 8; n++) await append("a");
  await until(() => asked.times > 0, "asked");
  for (let n = 0; n < 10; n++) await append("a");
  expect(told).toEqual([]);
});

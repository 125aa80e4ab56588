import { expect, it } from "vitest";
import { fenceDeleted } from "../../../runner/commit/fenced-commits.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";

/** A store in which the source is deleted before or during the append. */
function fenced(deployed: readonly boolean[]) {
  const calls: string[] = [];
  const answers = [...deployed];
  const commits: CommitStore = {
    last: async () => ({ commit: undefined, sequence: 0 }),
    append: async (_owner, history) => {
      calls.push(`append ${history}`);
      return { outcome: "stored", sequence: 1 };
    },
    end: () => Promise.resolve(),
    endDeleted: async (_owner, history) => void calls.push(`end ${history}`),
  };
  const isDeployed = (id: string): boolean => id === "p_1" && (answers.shift() ?? true);
  return { calls, commits: fenceDeleted(commits, { isDeployed }) };
}

it("stores commits of what is deployed", async () => {
  const { calls, commits } = fenced([true, true]);
  expect(await commits.append("u_1", "p_1.r_1", "{}", 0)).toEqual({ outcome: "stored", sequence: 1 });
  expect(calls).toEqual(["append p_1.r_1"]);
});

it("stores nothing for a workflow that was deleted while its step ran", async () => {
  const { calls, commits } = fenced([false]);
  await expect(commits.append("u_1", "p_1.r_1", "{}", 0)).rejects.toThrow("p_1 was deleted while it ran");
  expect(calls).toEqual([]);
});

it("ends the history if the workflow was deleted during the append", async () => {
  const { calls, commits } = fenced([true, false]);
  await expect(commits.append("u_1", "p_1.r_1", "{}", 0)).rejects.toThrow("p_1 was deleted while it ran");
  expect(calls).toEqual(["append p_1.r_1", "end p_1.r_1"]);
});

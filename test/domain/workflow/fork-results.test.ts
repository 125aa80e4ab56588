import { expect, test } from "vitest";
import { resultsOf, withAllResults, withResult } from "../../../domain/workflow/fork-results.ts";
import type { Branch, Fork } from "../../../domain/workflow/run-state.ts";

const fork = (count: number, branches: readonly Branch[] = []): Fork => ({
  count,
  started: count,
  items: "[]",
  results: Array.from({ length: count }, () => null),
  branches,
});
const position = { status: "running", next: 0, failures: 0, reruns: 0, rerunContext: null, steps: {} } as const;
const waiting = { suspension: null, suspensions: 0, resumedBy: null } as const;

test("results are read in the order of their parts, in whatever order they came", () => {
  const ended = [150, 3, 0, ...Array.from({ length: 140 }, (_, index) => index + 4)].reduce(
    (now, index) => withResult(now, index, `${index}`),
    fork(151),
  );
  const results = resultsOf(ended);
  expect(results).toHaveLength(151);
  expect([results[0], results[1], results[3], results[143], results[144], results[150]]).toEqual(["0", null, "3", "143", null, "150"]);
});

test("the list is copied once for sixty-four results, and a fork that is left unchanged keeps its own", () => {
  const before = fork(1_000);
  let now = before;
  const lists = new Set<unknown>();
  for (let index = 0; index < 640; index++) {
    now = withResult(now, index, "1");
    lists.add(now.results);
  }
  expect(lists.size).toBe(11);
  expect(resultsOf(before).every((result) => result === null)).toBe(true);
});

test("what is stored has all results in their lists, also those of forks within branches", () => {
  const inner = withResult(fork(2), 1, '"inner"');
  const branch: Branch = { ...position, ...waiting, id: 1, index: 0, fork: inner };
  const stored = withAllResults({ ...position, ...waiting, fork: withResult(fork(2, [branch]), 0, '"outer"') });
  expect([stored.fork?.results, stored.fork?.ended]).toEqual([['"outer"', null], undefined]);
  expect([stored.fork?.branches[0]?.fork?.results, stored.fork?.branches[0]?.fork?.ended]).toEqual([[null, '"inner"'], undefined]);
});

import { expect, test } from "vitest";
import { hopLimitError, isOverHopLimit, maxHops, nextHop, nextWay } from "../../../domain/invocation/hops.ts";

test("an event in a cycle is delivered until its hops are used up, then refused once, then no longer delivered", () => {
  const runs: number[] = [];
  for (let hops: number | undefined = 0; hops !== undefined; hops = nextHop(hops)) runs.push(hops);
  expect(runs.filter((hops) => !isOverHopLimit(hops))).toHaveLength(maxHops + 1);
  expect(runs.filter(isOverHopLimit)).toEqual([maxHops + 1]);
});

test("the hop limit error names the cycle of up to sixteen sources, or the last sources of the path", () => {
  const wayOf = (...round: readonly string[]) =>
    Array.from({ length: maxHops }, (_, n) => round[n % round.length] ?? "").reduce<readonly string[]>(nextWay, []);
  const messageOf = (source: string, way?: readonly string[]) => hopLimitError(source, way).message.replace(/^.* is not run: /, "");
  expect(messageOf("dc_a", wayOf("dc_a", "dc_b"))).toBe("the sources form a cycle: dc_a → dc_b → dc_a. Delete one of these subscriptions");
  const [first = "", ...others] = Array.from({ length: 16 }, (_, n) => `dc_${n}`);
  const sixteen = wayOf(first, ...others);
  expect(sixteen).toHaveLength(16);
  const next = sixteen[0] ?? "";
  expect(messageOf(next, sixteen)).toBe(`the sources form a cycle: ${[...sixteen, next].join(" → ")}. Delete one of these subscriptions`);
  expect(messageOf("dc_z", ["dc_x", "dc_y"])).toBe("its last sources are … → dc_x → dc_y → dc_z");
  expect(messageOf("dc_a")).toBe("check whether sources listen to each other");
});

test("the hop limit error of a cycle through a workflow names the workflow", () => {
  const way = Array.from({ length: maxHops }, (_, n) => (n % 2 === 0 ? "p_a" : "dc_b")).reduce<readonly string[]>(nextWay, []);
  const { code, message } = hopLimitError("p_a", way);
  expect([code, message]).toEqual([
    "hop_limit",
    "an event reached p_a after 100 deliveries to sources and workflows and is not run: the sources and workflows form a cycle: p_a → dc_b → p_a. Delete one of these subscriptions, or a step that calls the next workflow",
  ]);
});

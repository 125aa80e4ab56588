import { expect, test } from "vitest";
import { hopLimitError, isOverHopLimit, maxHops, nextHop, nextWay } from "../../../domain/invocation/hops.ts";

test("an event goes round until its hops are used up, is refused once, and is heard no more", () => {
  const runs: number[] = [];
  for (let hops: number | undefined = 0; hops !== undefined; hops = nextHop(hops)) runs.push(hops);
  expect(runs.filter((hops) => !isOverHopLimit(hops))).toHaveLength(maxHops + 1);
  expect(runs.filter(isOverHopLimit)).toEqual([maxHops + 1]);
});

test("the error of an event that went round names the circle, of up to sixteen sources, and else the end of its way", () => {
  const wayOf = (...round: readonly string[]) =>
    Array.from({ length: maxHops }, (_, n) => round[n % round.length] ?? "").reduce<readonly string[]>(nextWay, []);
  const told = (source: string, way?: readonly string[]) => hopLimitError(source, way).message.replace(/^.* is not run: /, "");
  expect(told("dc_a", wayOf("dc_a", "dc_b"))).toBe("they go round in a circle: dc_a → dc_b → dc_a. End one of these subscriptions");
  const [first = "", ...others] = Array.from({ length: 16 }, (_, n) => `dc_${n}`);
  const sixteen = wayOf(first, ...others);
  expect(sixteen).toHaveLength(16);
  const next = sixteen[0] ?? "";
  expect(told(next, sixteen)).toBe(`they go round in a circle: ${[...sixteen, next].join(" → ")}. End one of these subscriptions`);
  expect(told("dc_z", ["dc_x", "dc_y"])).toBe("it came by … → dc_x → dc_y → dc_z");
  expect(told("dc_a")).toBe("do sources listen to each other in a circle?");
});

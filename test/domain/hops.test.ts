import { expect, test } from "vitest";
import { isTooFar, mostHops, nextHop } from "../../domain/hops.ts";

test("an event goes round until its hops are used up, is refused once, and is heard no more", () => {
  const runs: number[] = [];
  for (let hops: number | undefined = 0; hops !== undefined; hops = nextHop(hops)) runs.push(hops);
  expect(runs.filter((hops) => !isTooFar(hops))).toHaveLength(mostHops + 1);
  expect(runs.filter(isTooFar)).toEqual([mostHops + 1]);
});

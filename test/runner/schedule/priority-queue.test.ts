import fc from "fast-check";
import { expect, it } from "vitest";
import { PriorityQueue } from "../../../runner/schedule/priority-queue.ts";

/** Method: random pushes and pops, compared with a list that is sorted before each pop (stable, so equal ranks keep their order). */
it("returns the item with the lowest rank, and of equal ranks the one that was pushed first", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20)), { maxLength: 400 }), (steps) => {
      const queue = new PriorityQueue<number>();
      let oracle: { item: number; rank: number }[] = [];
      for (const [item, rank] of steps.entries()) {
        if (rank === null) {
          oracle = oracle.toSorted((a, b) => a.rank - b.rank);
          expect(queue.pop()?.item).toBe(oracle.shift()?.item);
        } else {
          queue.push(item, rank);
          oracle.push({ item, rank });
        }
      }
    }),
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { LazyHeap } from "../../runner/lazy-heap.ts";

/** Method: random puts, removals and takes, compared with a map of which the least is looked for. */
it("gives the item of the least rank, by the rank it was put in with last", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("put" as const), item: fc.nat(9), rank: fc.nat(20) }),
    fc.record({ kind: fc.constant("remove" as const), item: fc.nat(9) }),
    fc.record({ kind: fc.constant("take" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const heap = new LazyHeap<number>();
      const oracle = new Map<number, number>();
      for (const each of steps) {
        if (each.kind === "put") {
          heap.put(each.item, each.rank);
          oracle.set(each.item, each.rank);
        } else if (each.kind === "remove") {
          heap.remove(each.item);
          oracle.delete(each.item);
        } else {
          const taken = heap.takeLeast();
          expect(taken === undefined ? undefined : oracle.get(taken)).toBe(oracle.size === 0 ? undefined : Math.min(...oracle.values()));
          if (taken !== undefined) oracle.delete(taken);
        }
        expect(heap.size).toBe(oracle.size);
      }
    }),
  );
});

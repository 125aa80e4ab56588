import fc from "fast-check";
import { expect, it } from "vitest";
import { KeyedChains } from "../../../delivery/routing/keyed-chains.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Method: random actions of three keys, some of which fail, some added later; each key's log is compared with the order of adding. */
it("runs the actions of one key in order, one at a time, also after failures, and those of other keys concurrently", async () => {
  const actions = fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), fails: fc.boolean(), turns: fc.nat(2), pause: fc.nat(2) }), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(actions, async (added) => {
      const chains = new KeyedChains();
      const log: [key: string, number: number][] = [];
      const running = new Set<string>();
      const results: Promise<PromiseSettledResult<void>[]>[] = [];
      for (const [number, { key, fails, turns, pause }] of added.entries()) {
        const acted = chains.append(key, async (waitedMs) => {
          expect(running.has(key)).toBe(false);
          expect(waitedMs).toBeGreaterThanOrEqual(0);
          running.add(key);
          for (let n = 0; n < turns; n++) await turn();
          log.push([key, number]);
          running.delete(key);
          if (fails) throw new Error("it fails");
        });
        results.push(Promise.allSettled([acted]));
        for (let n = 0; n < pause; n++) await turn();
      }
      const settled = (await Promise.all(results)).map(([result]) => result?.status);
      expect(settled).toEqual(added.map(({ fails }) => (fails ? "rejected" : "fulfilled")));
      for (const key of ["a", "b", "c"]) {
        const numbers = added.flatMap((action, number) => (action.key === key ? [number] : []));
        expect(log.filter(([of]) => of === key).map(([, number]) => number)).toEqual(numbers);
      }
    }),
    { numRuns: 50 },
  );
});

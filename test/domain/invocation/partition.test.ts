import fc from "fast-check";
import { expect, test } from "vitest";
import { memberOf, partitionOf, partitionsOf } from "../../../domain/invocation/partition.ts";
import { partitionCount } from "../../../domain/subjects.ts";

const partitions = Array.from({ length: partitionCount }, (_, i) => i);
const runners = fc.uniqueArray(fc.stringMatching(/^runner-[0-9a-z]{1,5}$/), { minLength: 1, maxLength: 8 });

test("each partition has one owner, whatever the order of the list", () => {
  fc.assert(
    fc.property(runners, (list) => {
      expect(list.flatMap((runner) => [...partitionsOf(runner, list)]).sort((a, b) => a - b)).toEqual(partitions);
      for (const partition of partitions) expect(memberOf(partition, list.toReversed())).toBe(memberOf(partition, list));
    }),
  );
  expect(memberOf(0, [])).toBeUndefined();
});

test("a runner that comes or goes moves only its own partitions", () => {
  fc.assert(
    fc.property(runners, (list) => {
      const [newcomer, ...rest] = list;
      for (const partition of partitions) {
        const owner = memberOf(partition, list);
        if (owner !== newcomer) expect(memberOf(partition, rest)).toBe(owner);
      }
    }),
  );
});

test("ids spread evenly over the partitions", () => {
  const counts = partitions.map(() => 0);
  for (let i = 0; i < 32_000; i++) {
    const p = partitionOf(`dc_${i.toString(36)}`);
    counts[p] = (counts[p] ?? 0) + 1;
  }
  // 2,000 each, standard deviation 43.
  for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(5 * 43);
});

test("runners get equal shares on average over many pools", () => {
  const shares = [0, 0, 0, 0];
  for (let pool = 0; pool < 300; pool++) {
    const list = shares.map((_, i) => `runner-${pool}-${i}`);
    list.forEach((runner, i) => {
      shares[i] = (shares[i] ?? 0) + partitionsOf(runner, list).length;
    });
  }
  // 4,800 partitions over 4 runners: 1,200 each, standard deviation 30.
  for (const share of shares) expect(Math.abs(share - 1200)).toBeLessThan(5 * 30);
});

test("the partition of an id never changes between releases", () => {
  expect(["dc_1", "dc_2", "dc_abc123def456", "p_x"].map(partitionOf)).toMatchInlineSnapshot(`
    [
      5,
      11,
      3,
      5,
    ]
  `);
});

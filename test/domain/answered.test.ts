import fc from "fast-check";
import { expect, test } from "vitest";
import { answer, forget, isAnswered } from "../../domain/answered.ts";
import type { Answered } from "../../domain/commit.ts";

/**
 * Oracle: a set of every number answered. Invocations arrive in any order, of sequence as redeliveries make them, and within one
 * sequence as moves between pools and what was given back make them.
 */
test("remembers exactly what was answered and not forgotten", () => {
  const action = fc.record({
    seq: fc.nat(12),
    indexes: fc.uniqueArray(fc.oneof(fc.nat(4), fc.nat(47)), { minLength: 1, maxLength: 6 }),
    settledBelow: fc.option(fc.nat(12), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      let answered: Answered = [];
      let oracle = new Set<string>();
      for (const { seq, indexes, settledBelow } of actions) {
        for (const index of indexes) {
          expect(isAnswered(answered, { seq, index })).toBe(oracle.has(`${seq}/${index}`));
          answered = answer(answered, { seq, index });
          oracle.add(`${seq}/${index}`);
        }
        if (settledBelow !== undefined) {
          answered = forget(answered, (settled) => settled < settledBelow);
          oracle = new Set([...oracle].filter((text) => Number(text.split("/")[0]) >= settledBelow));
        }
        expect(answered.map(([s]) => s)).toEqual([...new Set([...oracle].map((text) => Number(text.split("/")[0])))].sort((a, b) => a - b));
      }
      for (let seq = 0; seq <= 13; seq++)
        for (let index = 0; index < 48; index++) expect(isAnswered(answered, { seq, index })).toBe(oracle.has(`${seq}/${index}`));
    }),
  );
});

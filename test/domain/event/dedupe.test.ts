import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DedupeState, acceptEmits, orderByTime, type Emit } from "../../../domain/event/dedupe.ts";
import type { DedupeStrategy } from "../../../domain/component/definition.ts";

const none: DedupeState = { strategy: "none" };
const emitsOf = (ids: readonly (string | number)[]): Emit[] => ids.map((id) => ({ id, at: 0 }));
const idsOf = (emits: readonly Emit[]): (string | number | null | undefined)[] => emits.map((emit) => emit.id);

/** Applies runs one after the other, passing the state on like commits. */
function runAll(strategy: DedupeStrategy, runs: readonly (readonly (string | number)[])[]): (string | number | null | undefined)[][] {
  let state = none;
  return runs.map((ids) => {
    const result = acceptEmits(strategy, state, emitsOf(ids));
    expect(result.errors).toEqual([]);
    state = result.state;
    return idsOf(result.accepted);
  });
}
const runsOf = <T>(id: fc.Arbitrary<T>): fc.Arbitrary<T[][]> => fc.array(fc.array(id, { maxLength: 60 }), { maxLength: 12 });

describe("unique", () => {
  /** Oracle: the id is not among the last 100 emitted ids. */
  test("emits an id that is not among the last 100 emitted ids", () => {
    fc.assert(
      fc.property(runsOf(fc.oneof(fc.nat(150), fc.nat(150).map(String))), (runs) => {
        const through: string[] = [];
        const expected = runs.map((ids) => ids.filter((id) => !through.slice(-100).includes(String(id)) && through.push(String(id)) > 0));
        expect(runAll("unique", runs)).toEqual(expected);
      }),
    );
  });

  test("compares ids as strings of any length", () => {
    const long = "x".repeat(65);
    expect(runAll("unique", [[1, "1", `${long}a`, `${long}b`, `${long}a`]])).toEqual([[1, `${long}a`, `${long}b`]]);
  });

  test("distinguishes ids of thousands of characters, and stores them as short fingerprints", () => {
    const long = "x".repeat(60_000);
    expect(
      runAll("unique", [
        [`${long}a`, `${long}b`],
        [`${long}a`, `b${long}`, `${long}b`],
      ]),
    ).toEqual([[`${long}a`, `${long}b`], [`b${long}`]]);
    expect(runAll("last", [[`${long}a`], [`${long}a`, `${long}b`]])).toEqual([[`${long}a`], [`${long}b`]]);
    const { state } = acceptEmits("unique", none, emitsOf([long]));
    expect(JSON.stringify(state).length).toBeLessThan(200);
  });

  test("never keeps more than 100 ids", () => {
    const { state } = acceptEmits("unique", none, emitsOf(Array.from({ length: 250 }, (_, i) => i)));
    expect(state).toEqual({ strategy: "unique", ids: Array.from({ length: 100 }, (_, i) => String(150 + i)) });
  });
});

describe("greatest", () => {
  /** Oracle: the id is larger than every earlier id. */
  test("emits an id that is larger than every earlier id", () => {
    fc.assert(
      fc.property(
        runsOf(fc.oneof(fc.integer({ min: -50, max: 200 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(99).map(String))),
        (runs) => {
          const before: number[] = [];
          const expected = runs.map((ids) =>
            ids.filter((id) => {
              const larger = before.every((b) => Number(id) > b);
              before.push(Number(id));
              return larger;
            }),
          );
          expect(runAll("greatest", runs)).toEqual(expected);
        },
      ),
    );
  });

  test("distinguishes integers beyond 2^53", () => {
    fc.assert(
      fc.property(runsOf(fc.bigInt({ min: 9007199254740000n, max: 9007199254741100n })), (runs) => {
        const before: bigint[] = [];
        const expected = runs.map((ids) =>
          ids
            .filter((id) => {
              const larger = before.every((b) => id > b);
              before.push(id);
              return larger;
            })
            .map(String),
        );
        expect(
          runAll(
            "greatest",
            runs.map((ids) => ids.map(String)),
          ),
        ).toEqual(expected);
      }),
    );
  });

  test("reports an emit whose id is not a number, and emits the others", () => {
    const { accepted, errors } = acceptEmits("greatest", none, [
      { id: 1, at: 0 },
      { id: "abc", summary: "new row", at: 0 },
      { id: 2, at: 0 },
    ]);
    expect(idsOf(accepted)).toEqual([1, 2]);
    expect(errors).toEqual([
      {
        name: "EmitError",
        code: "emit_id_not_numeric",
        message: 'emit 2 of this run ("new row") was not emitted: its id "abc" is no number, and dedupe "greatest" compares numbers',
      },
    ]);
  });
});

describe("last", () => {
  /** Oracle: the emits after the last occurrence of the id that ended the previous run. */
  test("emits what follows the last id of the previous run, or everything", () => {
    fc.assert(
      fc.property(runsOf(fc.nat(20).map(String)), (runs) => {
        const expected = runs.map((ids, i) => ids.slice(ids.lastIndexOf(runs.slice(0, i).flat().at(-1) ?? "none") + 1));
        expect(runAll("last", runs)).toEqual(expected);
      }),
    );
  });

  test("remembers the id with the newest ts, in any order of calls", () => {
    const first = acceptEmits("last", none, [
      { id: "c", ts: 3, at: 9 },
      { id: "a", ts: 1, at: 9 },
      { id: "b", ts: 2, at: 9 },
    ]);
    expect(idsOf(first.accepted)).toEqual(["a", "b", "c"]);
    const second = acceptEmits("last", first.state, [
      { id: "d", ts: 4, at: 9 },
      { id: "c", ts: 3, at: 9 },
      { id: "b", ts: 2, at: 9 },
    ]);
    expect(idsOf(second.accepted)).toEqual(["d"]);
  });
});

describe("every strategy", () => {
  const strategy = fc.constantFrom<DedupeStrategy[]>("unique", "greatest", "last");

  test("reports each emit without an id, and does not emit it", () => {
    const id = fc.constantFrom(undefined, null, "", Number.NaN, 7);
    fc.assert(
      fc.property(strategy, fc.array(id), (chosen, ids) => {
        const { accepted, errors } = acceptEmits(
          chosen,
          none,
          ids.map((each) => ({ id: each, at: 0 })),
        );
        expect(errors.map(({ message }) => Number(/^emit (\d+) /.exec(message)?.[1]))).toEqual(
          ids.flatMap((each, i) => (each === 7 ? [] : [i + 1])),
        );
        expect(errors.every(({ code }) => code === "emit_without_id")).toBe(true);
        expect(idsOf(accepted).every((each) => each === 7)).toBe(true);
      }),
    );
  });

  test("starts empty when the strategy changed", () => {
    fc.assert(
      fc.property(strategy, strategy, fc.array(fc.nat(20)), fc.array(fc.nat(20)), (before, after, first, second) => {
        const { state } = acceptEmits(before, none, emitsOf(first));
        const changed = acceptEmits(after, state, emitsOf(second));
        if (before !== after) expect(changed).toEqual(acceptEmits(after, none, emitsOf(second)));
      }),
    );
  });

  test("keeps its state through a run that emits nothing", () => {
    fc.assert(
      fc.property(strategy, fc.array(fc.nat(20), { minLength: 1 }), (chosen, ids) => {
        const { state } = acceptEmits(chosen, none, emitsOf(ids));
        expect(acceptEmits(chosen, state, []).state).toEqual(state);
      }),
    );
  });
});

describe("order", () => {
  test("is by ts, or by the time of the call; equal times keep their order", () => {
    const emit = fc.record({ ts: fc.option(fc.nat(5), { nil: undefined }), at: fc.nat(5), nth: fc.nat() });
    fc.assert(
      fc.property(fc.array(emit), (emits) => {
        const numbered = emits.map((each, nth) => ({ ...each, nth }));
        const ordered = acceptEmits("none", none, numbered).accepted;
        expect(ordered).toEqual(orderByTime(numbered));
        expect(ordered.map(({ nth }) => nth).sort((a, b) => a - b)).toEqual(numbered.map(({ nth }) => nth));
        ordered.slice(1).forEach((next, i) => {
          const previous = ordered[i];
          if (previous === undefined) throw new Error("an array without holes has a hole");
          const [a, b] = [previous.ts ?? previous.at, next.ts ?? next.at];
          expect(a < b || (a === b && previous.nth < next.nth)).toBe(true);
        });
      }),
    );
  });
});

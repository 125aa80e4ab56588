import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDisabled, killsThatDisable, killWindowMs, type Kills, recordRun } from "../../../domain/run/kills.ts";

interface Run {
  readonly afterMs: number;
  readonly cost: boolean;
}

const play = (runs: readonly Run[], deployment = "d_1"): Kills | undefined => {
  let [kills, now]: [Kills | undefined, number] = [undefined, 1_000];
  for (const { afterMs, cost } of runs) {
    now += afterMs;
    kills = recordRun(kills, deployment, now, cost);
  }
  return kills;
};
const kill = (afterMs = 0): Run => ({ afterMs, cost: true });
const harmless = (afterMs = 0): Run => ({ afterMs, cost: false });

describe("a source whose runs kill their process", () => {
  it.each([
    ["three in a row", [kill(), kill(), kill()], true],
    ["three in a row, a day between them", [kill(), kill(86_400_000), kill(86_400_000)], true],
    ["three within the window, harmless ones between them", [kill(), harmless(), kill(), harmless(), kill(1)], true],
    ["two", [kill(), kill()], false],
    ["three, spread out, harmless ones between them", [kill(), harmless(), kill(killWindowMs), harmless(), kill(killWindowMs)], false],
    ["two, a harmless one, two after the window", [kill(), kill(), harmless(), kill(killWindowMs), kill()], false],
    ["three, and harmless ones later", [kill(), kill(), kill(), harmless(), harmless(killWindowMs)], true],
  ])("is disabled or not: %s", (_, runs, disabled) => {
    expect(isDisabled(play(runs), "d_1")).toBe(disabled);
  });

  it("starts from zero with another deployment", () => {
    const kills = play([kill(), kill(), kill()]);
    expect(isDisabled(kills, "d_2")).toBe(false);
    expect(recordRun(kills, "d_2", 1, true)).toEqual({ deployment: "d_2", at: [1], inRow: 1 });
  });

  it("has no record once no run has killed its process for a while", () => {
    expect(play([kill(), harmless(killWindowMs)])).toBeUndefined();
    expect(play([harmless()])).toBeUndefined();
  });

  /** Oracle: the definition, applied to all past runs. Method: random runs with random pauses. */
  it("is disabled exactly by three kills in a row or within the window", () => {
    const run = fc.record({ afterMs: fc.nat({ max: killWindowMs }), cost: fc.boolean() });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 30 }), (runs) => {
        const kills = play(runs);
        expect(isDisabled(kills, "d_1")).toBe(runs.some((_, last) => disabledBy(runs.slice(0, last + 1))));
        expect(kills?.at.length ?? 0).toBeLessThanOrEqual(killsThatDisable);
      }),
    );
  });
});

function disabledBy(runs: readonly Run[]): boolean {
  if (runs.at(-1)?.cost !== true) return false;
  if (runs.length >= killsThatDisable && runs.slice(-killsThatDisable).every(({ cost }) => cost)) return true;
  let ageMs = 0;
  let count = 0;
  for (const { afterMs, cost } of runs.toReversed()) {
    if (cost && ageMs < killWindowMs) count++;
    ageMs += afterMs;
  }
  return count >= killsThatDisable;
}

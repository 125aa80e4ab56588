import { describe, expect, it } from "vitest";
import { countTicks } from "../../bench/harness/measure/tick-ledger.ts";

const window = { fromMs: 10_000, toMs: 30_000 };
const count = (startedAt: readonly number[]) => countTicks([{ phaseMs: 2_000, startedAt }], 5_000, window);

describe("countTicks", () => {
  it("finds each tick of the window answered once, and says how late", () => {
    // Due in the window: 12, 17, 22 and 27 s.
    expect(count([7_001, 12_010, 17_020, 22_030, 27_040, 32_000])).toEqual({
      expected: 4,
      missed: 0,
      doubled: 0,
      lateP50Ms: 20,
      lateP99Ms: 40,
      lateMaxMs: 40,
    });
  });

  it("finds ticks without a run and with two", () => {
    expect(count([12_010, 12_400, 22_030, 27_040])).toMatchObject({ expected: 4, missed: 1, doubled: 1 });
  });

  it("takes a run that starts a little early for its tick, and one after the window for its own", () => {
    expect(count([11_980, 16_990, 22_000, 26_951, 31_990])).toMatchObject({ missed: 0, doubled: 0, lateMaxMs: 0 });
  });
});

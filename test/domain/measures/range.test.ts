import { describe, expect, it } from "vitest";
import { emptyMeasure } from "../../../domain/measures/measure.ts";
import { planRange, pointsOf, readSteps, withoutGaps, type WantedRange } from "../../../domain/measures/range.ts";
import { defaultKeptMeasures, stepMs } from "../../../domain/measures/steps.ts";

const now = Date.UTC(2026, 10, 30, 12, 34, 56, 789);
const plan = (wanted: WantedRange) => planRange(wanted, defaultKeptMeasures, now);
const ago = (ms: number): number => now - ms;

describe("planRange", () => {
  it.each([
    [stepMs.hour, "minute", 61],
    [6 * stepMs.hour, "5_minutes", 73],
    [24 * stepMs.hour, "15_minutes", 97],
    [25 * stepMs.hour, "hour", 26],
    [7 * stepMs.day, "hour", 169],
    [30 * stepMs.day, "day", 31],
    [400 * stepMs.day, "day", 401],
  ])("chooses for the last %i ms steps of %s", (length, step, points) => {
    const range = plan({ from: ago(length) });
    expect([range.step, pointsOf(range)]).toEqual([step, points]);
    expect(range.fromMs).toBeLessThanOrEqual(ago(length));
    expect([range.fromMs % range.stepMs, range.untilMs % range.stepMs]).toEqual([0, 0]);
  });

  it("is the last 24 hours by default, and ends now at the latest", () => {
    expect(plan({})).toEqual(plan({ from: ago(stepMs.day), to: now }));
    expect(plan({ from: ago(stepMs.hour), to: now + stepMs.day })).toEqual(plan({ from: ago(stepMs.hour) }));
  });

  it("takes any step that is kept and gives at most 1500 points", () => {
    for (const step of readSteps) expect(pointsOf(plan({ from: ago(stepMs.hour), step }))).toBeGreaterThan(0);
    expect(pointsOf(plan({ from: ago(24 * stepMs.hour), step: "minute" }))).toBe(1_441);
  });

  it.each<[WantedRange, string]>([
    [{ from: now }, `from ${now} is not before now, ${now}: choose an earlier time, in epoch milliseconds`],
    [{ from: 5_000_000, to: 5_000_000 }, "from 5000000 is not before to, 5000000: choose an earlier time, in epoch milliseconds"],
    [
      { from: ago(3 * stepMs.day), step: "minute" },
      `metrics by minute are kept for 24 hours, and from ${ago(3 * stepMs.day)} is earlier: choose step=hour, or a later time`,
    ],
    [{ from: ago(3 * stepMs.day), step: "15_minutes" }, "metrics by minute are kept for 24 hours"],
    [{ from: ago(40 * stepMs.day), step: "hour" }, "metrics by hour are kept for 30 days"],
    [{ from: 0, step: "day" }, "points with step day, and a response has at most 1500: choose a shorter range"],
    [{ from: 0 }, "a response has at most 1500"],
  ])("refuses %j", (wanted, message) => {
    expect(() => plan(wanted)).toThrow(message);
  });
});

it("withoutGaps has a measure for each step", () => {
  const range = plan({ from: ago(stepMs.hour) });
  const measure = { ...emptyMeasure, atMs: range.fromMs + 3 * stepMs.minute, runs: 2 };
  const filled = withoutGaps([measure], range);
  expect(filled.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 61 }, (_, n) => range.fromMs + n * stepMs.minute));
  expect(filled.map(({ runs }) => runs)).toEqual(Array.from({ length: 61 }, (_, n) => (n === 3 ? 2 : 0)));
});

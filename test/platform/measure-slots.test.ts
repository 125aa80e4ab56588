import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultKeptMeasures, measureSteps, stepMs } from "../../domain/measures/steps.ts";
import { blockMs, expiredSlots, maxKeptBlocks, slotsPerStep } from "../../platform/postgres/measures/slots.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";

const anyTime = fc.integer({ min: 1_700_000_000_000, max: 4_000_000_000_000 });
const anyStep = fc.constantFrom(...measureSteps);

describe("slots of measures", () => {
  it("never expire while they have times that are kept, or those of a clock that is ahead", () => {
    fc.assert(
      fc.property(anyTime, anyStep, fc.nat(), (now, step, before) => {
        const at = now - (before % defaultKeptMeasures[step]);
        const slotOf = (time: number): number =>
          measureSteps.indexOf(step) * slotsPerStep + (Math.floor(time / blockMs(step)) % slotsPerStep);
        const expired = expiredSlots(step, defaultKeptMeasures, now);
        expect(expired).not.toContain(slotOf(at));
        expect(expired).not.toContain(slotOf(now + blockMs(step) / 2));
      }),
    );
  });

  it("expire for the time of one block at least, before their turn comes again", () => {
    fc.assert(
      fc.property(anyTime, anyStep, (now, step) => {
        const longest = { ...defaultKeptMeasures, [step]: maxKeptBlocks * blockMs(step) };
        const block = Math.floor(now / blockMs(step)) - maxKeptBlocks - 1;
        expect(expiredSlots(step, longest, now)).toContain(measureSteps.indexOf(step) * slotsPerStep + (block % slotsPerStep));
      }),
    );
  });

  it("are enough for all settings", () => {
    const longest = parseConfiguration({
      HEADWATER_KEEP_METRICS_BY_MINUTE: "30",
      HEADWATER_KEEP_METRICS_BY_HOUR: "40",
      HEADWATER_KEEP_METRICS_BY_DAY: "640",
    }).keptMeasures;
    for (const step of measureSteps) expect(longest[step]).toBeLessThanOrEqual(maxKeptBlocks * blockMs(step));
    const { keptMeasures } = parseConfiguration({});
    expect(keptMeasures).toEqual(defaultKeptMeasures);
    expect(keptMeasures.minute).toBe(24 * stepMs.hour);
    expect(() => parseConfiguration({ HEADWATER_KEEP_METRICS_BY_MINUTE: "31" })).toThrow("HEADWATER_KEEP_METRICS_BY_MINUTE");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addHistograms,
  bucketOf,
  emptyHistogram,
  histogramSize,
  quantile,
  quantileErrorFactor,
} from "../../../domain/measures/histogram.ts";

const histogramOf = (durations: readonly number[]): readonly number[] => {
  const counts = [...emptyHistogram];
  for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
};
const exact = (durations: readonly number[], q: number): number | undefined =>
  durations.toSorted((one, other) => one - other)[Math.max(1, Math.ceil(q * durations.length)) - 1];

const anyDuration = fc.oneof(fc.integer({ min: 1, max: 600_000 }), fc.integer({ min: 1, max: 50 }));
const q = fc.constantFrom(0.5, 0.95, 0.99, 1);

describe("histogram", () => {
  it("puts each duration into the bucket whose bounds contain it", () => {
    expect([0, 1, 1.1, 1.41, 1.42, 2, 2 ** 19, 2 ** 19 + 1, 1e12].map(bucketOf)).toEqual([0, 0, 1, 1, 2, 2, 38, 39, 39]);
    expect([Number.NaN, -1, Number.POSITIVE_INFINITY].map(bucketOf)).toEqual([0, 0, histogramSize - 1]);
  });

  it("has no quantile without durations", () => {
    expect(quantile(emptyHistogram, 0.5, 0)).toBeNull();
  });

  it("returns the longest duration for quantiles in the last bucket", () => {
    expect(quantile(histogramOf([5, 900_000, 4_000_000]), 0.95, 4_000_000)).toBe(4_000_000);
  });

  it("is within the error factor of the exact quantile, also of sums of histograms", () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyDuration), { minLength: 1 }), q, (parts, share) => {
        const all = parts.flat();
        fc.pre(all.length > 0);
        const merged = parts.map(histogramOf).reduce(addHistograms);
        expect(merged).toEqual(histogramOf(all));
        const [estimate, truth] = [quantile(merged, share, Math.max(...all)) ?? Number.NaN, exact(all, share) ?? Number.NaN];
        if (truth > 2 ** 19) expect(estimate).toBe(Math.max(...all));
        const factor = (truth > 2 ** 19 ? Number.POSITIVE_INFINITY : quantileErrorFactor) * (1 + 1e-9);
        expect(estimate / truth).toBeLessThanOrEqual(factor);
        expect(truth / estimate).toBeLessThanOrEqual(factor);
      }),
    );
  });
});

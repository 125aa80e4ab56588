import { describe, expect, test } from "vitest";
import { forecastOf, type DiskSample } from "../../../domain/limits/disk-forecast.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A sample every three hours, as delivery takes them. */
const samples = (count: number, bytesAt: (atMs: number, index: number) => number): readonly DiskSample[] =>
  Array.from({ length: count }, (_, index) => ({ atMs: index * 3 * hourMs, bytes: bytesAt(index * 3 * hourMs, index) }));

describe("the forecast of a disk", () => {
  test("is the time when a straight line reaches the limit", () => {
    const steadily = samples(9, (atMs) => 1_000 + (atMs / dayMs) * 500);
    expect(forecastOf(steadily, 3_500)).toEqual({ state: "growing", bytesPerDay: 500, fullAtMs: 5 * dayMs });
    expect(forecastOf(steadily.toReversed(), 3_500)).toEqual({ state: "growing", bytesPerDay: 500, fullAtMs: 5 * dayMs });
  });

  test("counts growth that has begun within the last day", () => {
    const flat = samples(97, () => 1_000);
    const begun = samples(105, (_, index) => 1_000 + Math.max(0, index - 96) * 125);
    expect(forecastOf(flat, 10_000)).toEqual({ state: "steady" });
    expect(forecastOf(begun, 4_000)).toEqual({ state: "growing", bytesPerDay: 1_000, fullAtMs: 104 * 3 * hourMs + 2 * dayMs });
  });

  test("averages samples that vary less than they grow", () => {
    const forecast = forecastOf(
      samples(17, (atMs, index) => 1_000 + (atMs / dayMs) * 500 + (index % 2 === 0 ? 20 : -20)),
      1e6,
    );
    expect(forecast).toMatchObject({ state: "growing", fullAtMs: null });
    expect(forecast.state === "growing" ? forecast.bytesPerDay : 0).toBeCloseTo(500, -1);
  });

  test.each([
    ["shrinks", samples(9, (_, index) => 1_000 - index)],
    ["is constant", samples(9, () => 1_000)],
    ["fills and drains", samples(17, (_, index) => (index % 4) * 100)],
    ["is empty", samples(9, () => 0)],
  ])("is that a disk which %s does not grow", (_name, steady) => {
    expect(forecastOf(steady, 10_000)).toEqual({ state: "steady" });
  });

  test.each([
    ["no sample", []],
    ["three samples", samples(3, (atMs) => atMs)],
    ["samples of minutes", Array.from({ length: 50 }, (_, index) => ({ atMs: index * 60_000, bytes: index }))],
    ["samples of one time", Array.from({ length: 50 }, () => ({ atMs: 5, bytes: 1 }))],
  ])("is unknown with %s", (_name, few) => {
    expect(forecastOf(few, 10_000)).toEqual({ state: "unknown" });
  });

  test("has no end without a limit, and is now when the limit is reached", () => {
    const growing = samples(9, (atMs) => 1_000 + atMs / hourMs);
    expect(forecastOf(growing, null)).toEqual({ state: "growing", bytesPerDay: 24, fullAtMs: null });
    expect(forecastOf(growing, 10)).toEqual({ state: "growing", bytesPerDay: 24, fullAtMs: dayMs });
  });
});

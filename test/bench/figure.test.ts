import { describe, expect, it } from "vitest";
import { isReached, ratioOf, type Figure } from "../../bench/figure.ts";
import { formatTable } from "../../bench/table.ts";

const figure = (given: Partial<Figure>): Figure => ({ name: "a figure", value: 10, unit: "runs/s", ...given });

describe("a figure", () => {
  it("is compared by its ratio or by its value", () => {
    expect(ratioOf(figure({ baseline: 4 }))).toBe(2.5);
    expect(isReached(figure({ baseline: 4, goal: { of: "ratio", atLeast: 2 } }))).toBe(true);
    expect(isReached(figure({ baseline: 6, goal: { of: "ratio", atLeast: 2 } }))).toBe(false);
    expect(isReached(figure({ goal: { of: "value", atMost: 10 } }))).toBe(true);
    expect(isReached(figure({ value: 10.1, goal: { of: "value", atMost: 10 } }))).toBe(false);
  });

  it("has not reached its goal when it could not be measured", () => {
    expect(isReached(figure({ value: Number.NaN, goal: { of: "value", atMost: 1 } }))).toBe(false);
    expect(isReached(figure({ goal: { of: "ratio", atLeast: 1 } }))).toBe(false);
    expect(isReached(figure({}))).toBeUndefined();
  });
});

describe("the table", () => {
  it("aligns its columns and numbers its notes", () => {
    const text = formatTable([
      figure({ name: "short", baseline: 4, goal: { of: "ratio", atLeast: 2 }, note: "quiet machine" }),
      figure({ name: "a longer name", value: Number.NaN, unit: "ms", goal: { of: "value", atMost: 5 } }),
    ]);
    expect(text.split("\n")).toEqual([
      "figure         value         unit    baseline  ratio  goal       reached",
      "-------------  ------------  ------  --------  -----  ---------  -------",
      "short [1]      10            runs/s  4         2.50   ratio ≥ 2  yes",
      "a longer name  not measured  ms                       ≤ 5        NO",
      "",
      "[1] quiet machine",
    ]);
  });
});

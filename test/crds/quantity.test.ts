import { expect, it } from "vitest";
import { amountOf } from "../../crds/quantity.ts";

it.each([
  ["500m", 0.5],
  [2, 2],
  ["2", 2],
  ["1.5", 1.5],
  ["1k", 1_000],
  ["384Mi", 384 * 2 ** 20],
  ["3Gi", 3 * 2 ** 30],
  ["1E", 1e18],
  ["1e3", 1_000],
  ["250000u", 0.25],
])("%s is %d", (quantity, amount) => {
  expect(amountOf(quantity)).toBeCloseTo(amount, 6);
});

it.each(["soon", "1Zi", ""])("'%s' is none", (text) => {
  expect(amountOf(text)).toBeNaN();
});

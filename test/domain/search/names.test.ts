import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emitterPatterns, isNamedBy } from "../../../domain/search/names.ts";

const orders = { id: "dc_orders1", name: "Orders of Müller", slug: "orders-of-m-ller" };
const isOrders = (...names: readonly string[]): boolean => isNamedBy(emitterPatterns(names), orders);

describe("a source", () => {
  test.each([
    ["DC_ORDERS1", true],
    ["dc_orders2", false],
    ["orders of müller", true],
    ["orders-of-*", true],
    ["*MÜLL*", true],
    ["*", true],
    ["orders", false],
    ["o*o*r", true],
    ["o*r*o*f*x", false],
    ["or?ers*", false],
    ["", false],
  ])("named %s: %s", (name, expected) => {
    expect(isOrders(name)).toBe(expected);
  });

  test("is named by any of several, and never by none", () => {
    expect(isOrders("absent", "orders*")).toBe(true);
    expect(isOrders()).toBe(false);
  });

  test("without a slug is named by its id and its name", () => {
    expect(isNamedBy(emitterPatterns(["bill-*", "p_bill*"]), { id: "p_billing", name: "Bill", slug: undefined })).toBe(true);
    expect(isNamedBy(emitterPatterns(["bil-l*"]), { id: "p_billing", name: "Bil l", slug: undefined })).toBe(false);
  });

  /** Oracle: a regular expression in which `*` is any text. Method: few letters, so that many match. */
  test("is named by a glob as by the regular expression that it stands for", () => {
    const letters = (...unit: readonly string[]) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 8 });
    fc.assert(
      fc.property(letters("a", "b", "é"), letters("a", "b", "é", "*"), (name, glob) => {
        const pattern = new RegExp(`^${glob.replaceAll("*", ".*")}$`, "s");
        expect(isNamedBy({ ids: [], globs: [glob], slugs: [] }, { id: "-", name })).toBe(pattern.test(name) || pattern.test("-"));
      }),
      { numRuns: 2_000 },
    );
  });
});

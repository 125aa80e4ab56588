import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPageSizes, roughBytes } from "../../platform/kubernetes/resources/page-size.ts";

describe("pages of a whole kind", () => {
  it("start small and grow to five hundred small objects", () => {
    const sizes = createPageSizes();
    expect(sizes.of("Source")).toBe(50);
    sizes.learn("Source", Array(50).fill({ spec: { text: "x".repeat(2_000) } }));
    expect(sizes.of("Source")).toBe(500);
    expect(sizes.of("Component")).toBe(50);
  });

  it("stay small after a page of big objects", () => {
    const sizes = createPageSizes();
    sizes.learn("Component", [{ code: "x".repeat(1_048_576) }]);
    expect(sizes.of("Component")).toBe(3);
    sizes.learn("Component", [{ code: "x" }]);
    sizes.learn("Component", []);
    expect(sizes.of("Component")).toBe(3);
    sizes.learn("Component", [{ code: "x".repeat(50_000_000) }]);
    expect(sizes.of("Component")).toBe(1);
  });

  it("are measured approximately by the length of their JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const length = JSON.stringify(value).length;
        expect(roughBytes(value)).toBeGreaterThan(length / 8);
        expect(roughBytes(value)).toBeLessThan(length * 6 + 10);
      }),
    );
  });
});

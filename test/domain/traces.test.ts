import { describe, expect, it } from "vitest";
import { parseTraceparent } from "../../domain/traces.ts";

const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

describe("parseTraceparent", () => {
  it("keeps what the recommendation allows", () => {
    expect(parseTraceparent(`00-${trace}-${parent}-01`)).toBe(`00-${trace}-${parent}-01`);
    expect(parseTraceparent(`00-${trace}-${parent}-00`)).toBe(`00-${trace}-${parent}-00`);
  });

  it("reads a later version as far as it knows it", () => {
    expect(parseTraceparent(`01-${trace}-${parent}-01`)).toBe(`00-${trace}-${parent}-01`);
    expect(parseTraceparent(`cc-${trace}-${parent}-09-what-comes-then`)).toBe(`00-${trace}-${parent}-09`);
  });

  it.each([
    undefined,
    ["00"],
    "",
    trace,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${"0".repeat(32)}-${parent}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace}-${parent}-01\r\nx: y`,
    `01-${trace}-${parent}-01x`,
    `01-${trace}-${parent}-01-${"x".repeat(200)}`,
  ])("ignores %j", (value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });
});

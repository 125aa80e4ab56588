import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureJson } from "../../domain/json-shape.ts";
import { cpuMsOf } from "../support/cpu-time.ts";

const none = { depth: Infinity, values: Infinity };
const measure = (text: string, limits = none) => measureJson(new TextEncoder().encode(text), limits);

describe("measureJson", () => {
  it.each([
    ["1", 0, 0],
    ["[ \n]", 1, 0],
    ["[1,2,3]", 1, 3],
    ['{"a":{"b":[1,2]},"c":3}', 3, 5],
    ['"[[[,,,]]]"', 0, 0],
    ['["\\"[[,", "\\\\", "[" ]', 1, 3],
    ['{"\\\\":[]}', 2, 1],
    ["[[],[ ],{}]", 2, 3],
  ])("measures %s", (text, depth, values) => {
    expect(measure(text)).toEqual({ depth, values });
  });

  it("stops once a limit is exceeded", () => {
    expect(measure("[".repeat(1_000_000), { depth: 64, values: Infinity })).toEqual({ depth: 65, values: 65 });
    expect(measure(`[${"1,".repeat(1_000_000)}`, { depth: 64, values: 1_000 }).values).toBe(1_001);
  });

  it.each(['"', '["\\', "]]]", "}{", ""])("measures text that is not JSON: %j", (text) => {
    expect(measure(text)).toEqual({ depth: expect.any(Number), values: expect.any(Number) });
  });

  it("measures four megabytes of brackets, strings or escapes in less than 500 ms of CPU time", () => {
    for (const text of ['{"a":[],', '"x",', String.raw`"\"\\",`].map((part) => part.repeat((4 * 2 ** 20) / part.length))) {
      expect(cpuMsOf(() => measure(text, { depth: Infinity, values: Infinity }))).toBeLessThan(500);
    }
  });

  /** Oracle: a walk over the parsed value. */
  it("agrees with the parsed value", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const valuesOf = (value: unknown): number => {
      if (typeof value !== "object" || value === null) return 0;
      const parts: unknown[] = Object.values(value);
      return parts.length + parts.reduce((sum: number, part) => sum + valuesOf(part), 0);
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(measure(JSON.stringify(value))).toEqual({ depth: depthOf(value), values: valuesOf(value) });
      }),
    );
  });
});

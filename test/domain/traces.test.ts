import { describe, expect, it } from "vitest";
import { parseTraceContext, parseTraceparent, parseTracestate } from "../../domain/traces.ts";

const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

describe("parseTraceparent", () => {
  it("keeps valid values of the W3C recommendation", () => {
    expect(parseTraceparent(`00-${trace}-${parent}-01`)).toBe(`00-${trace}-${parent}-01`);
    expect(parseTraceparent(`00-${trace}-${parent}-00`)).toBe(`00-${trace}-${parent}-00`);
  });

  it("reads the known fields of a later version", () => {
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

describe("parseTracestate", () => {
  it("keeps the valid entries in order, without whitespace between them", () => {
    expect(parseTracestate("rojo=00f067aa0ba902b7 ,\tcongo=t61rcWkgMzE,,")).toBe("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    expect(parseTracestate("fw529a3039@dt=FfD; a b,0x=1")).toBe("fw529a3039@dt=FfD; a b,0x=1");
    expect(parseTracestate(`a=${"x".repeat(256)}`)).toHaveLength(258);
  });

  it.each([
    undefined,
    ["a=1"],
    "",
    " , ",
    "a",
    "a=",
    "=1",
    "A=1",
    "a=1,a=2",
    "a=1=2",
    "a=\u00e9",
    "a=1\r\nx: y",
    "@dt=1",
    "a@1t=1",
    `a=${"x".repeat(257)}`,
    `${"k".repeat(257)}=1`,
    Array.from({ length: 33 }, (_, n) => `k${n}=1`).join(","),
    `a=${"x".repeat(254)},b=${"x".repeat(255)}`,
  ])("drops %j", (value) => {
    expect(parseTracestate(value)).toBeUndefined();
  });

  it("returns nothing without a traceparent", () => {
    const traceparent = `00-${trace}-${parent}-01`;
    expect(parseTraceContext({ traceparent, tracestate: "a=1" })).toEqual({ traceparent, tracestate: "a=1" });
    expect(parseTraceContext({ traceparent, tracestate: "a" })).toEqual({ traceparent });
    expect(parseTraceContext({ tracestate: "a=1" })).toEqual({});
  });
});

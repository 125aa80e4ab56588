import { describe, expect, it } from "vitest";
import { HintBudget, nearestName, suggestion } from "../../domain/nearest-name.ts";
import { cpuMsOf } from "../support/cpu-time.ts";

describe("the nearest name", () => {
  const known = ["deploy", "activate", "deactivate", "dedupe", "component_code", "component_url", "name", "run", "limit"];

  it.each([
    ["deply", "deploy"],
    ["dedup", "dedupe"],
    ["nmae", "name"],
    ["componentCode", "component_code"],
    ["component-ulr", "component_url"],
    ["NAME", "name"],
    ["activated", "activate"],
    ["rnu", "run"],
    ["limt", "limit"],
  ])("of %s is %s", (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  it.each(["", "x", "sampleEmit", "annotations", "colour", "d".repeat(100_000)])("of %.20s is none", (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });

  it("is suggested in a message, or the alternative text is", () => {
    expect(suggestion("deply", known)).toBe(": did you mean deploy?");
    expect([suggestion("colour", known), suggestion("colour", known, ": see --help")]).toEqual(["", ": see --help"]);
  });

  it("is not searched beyond the budget, however many names are compared", () => {
    const names = Array.from({ length: 100_000 }, (_, index) => String(index).padStart(100, "x"));
    const once = cpuMsOf(() => void names.map((name) => name.toLowerCase()), 5);
    const budget = new HintBudget();
    expect(cpuMsOf(() => void names.map((name) => nearestName(name, names.slice(0, 50), budget)), 1)).toBeLessThan(50 * once + 200);
    expect(nearestName("deply", known, budget)).toBeUndefined();
    expect(nearestName("deply", known)).toBe("deploy");
  });
});

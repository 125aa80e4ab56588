import { describe, expect, it } from "vitest";
import { variableReadBy, variablesReadByCode } from "../../../domain/variable/variable.ts";
import { findExpressions } from "../../../domain/workflow/expressions.ts";

const readBy = (text: string): readonly string[] => [...findExpressions({ text })].flatMap(({ environment }) => environment);

describe("variables that are read", () => {
  it.each([
    ["{{ env.A }}", ["A"]],
    ["{{ process.env.A + env['B'] }} {{ env?.C }}", ["A", "B", "C"]],
    ["{{ steps.env.A }} {{ this.process.env.B }} {{ env[name] }}", []],
    ["env.A", []],
  ])("by the expressions of %j are %j", (text, names) => {
    expect(readBy(text)).toEqual(names);
  });

  it("by code are found by their text, without those of Headwater", () => {
    const code = "fetch(process.env.API_URL, { key: process . env?.KEY }); process.env.API_URL; process.env.PD_COMPONENT; env.X";
    expect(variablesReadByCode(code)).toEqual(["API_URL", "KEY"]);
  });

  it.each([
    ["{{ env.KEY }}", "KEY"],
    [" {{process.env.KEY}}\n", "KEY"],
    ["Bearer {{ env.KEY }}", undefined],
    ["{{ env.KEY }}{{ env.KEY }}", undefined],
    [5, undefined],
  ])("as the whole text of %j: %j", (text, name) => {
    expect(variableReadBy(text)).toBe(name);
  });
});

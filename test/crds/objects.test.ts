import { describe, expect, it } from "vitest";
import { checkChange, parseSpec } from "../../crds/validate.ts";
import { changes, examples, titleOf } from "./objects.ts";

describe("the schemas of the kinds", () => {
  const accepted = examples.filter(({ refused }) => refused === undefined).map((example) => [titleOf(example), example] as const);
  it.each(accepted)("take %s", (_title, { kind, name = "x", spec }) => {
    expect(() => parseSpec(kind, name, spec)).not.toThrow();
  });

  const refused = examples.filter((example) => example.refused !== undefined).map((example) => [titleOf(example), example] as const);
  it.each(refused)("refuse %s", (_title, { kind, name = "x", spec, refused: message }) => {
    const ours = typeof message === "string" ? message : message?.[1];
    expect(() => parseSpec(kind, name, spec)).toThrow(ours);
  });
});

describe("a change", () => {
  it.each(changes.map((change) => [`${titleOf({ ...change, spec: change.before })} to ${JSON.stringify(change.after)}`, change] as const))(
    "of %s is judged",
    (_title, { kind, before, after, refused }) => {
      const check = (): void => checkChange(kind, "x", parseSpec(kind, "x", before), parseSpec(kind, "x", after));
      if (refused === undefined) expect(check).not.toThrow();
      else expect(check).toThrow(refused);
    },
  );
});

describe("the examples", () => {
  it("accept and refuse each kind", () => {
    const kinds = new Set(examples.map(({ kind }) => kind.kind));
    const both = [...kinds].filter((name) =>
      [true, false].every((isRefused) => examples.some(({ kind, refused }) => kind.kind === name && (refused !== undefined) === isRefused)),
    );
    expect(both).toHaveLength(12);
  });
});

import { describe, expect, it } from "vitest";
import { type StepControl } from "../../../domain/workflow/step-control.ts";
import { flatten } from "../../../domain/workflow/step-tree.ts";
import { treeProblems } from "../../../domain/workflow/step-tree-problems.ts";

interface Node extends StepControl<Node> {
  readonly name: string;
}

const nested = (levels: number): Node => ({
  name: `s${levels}`,
  while: "{{ 1 }}",
  steps: levels === 0 ? [{ name: "leaf" }] : [nested(levels - 1)],
});

describe("a tree over the limits", () => {
  it.each([
    ["steps", Array.from({ length: 201 }, (_, index) => ({ name: `s${index}` }))],
    [
      "steps within steps",
      Array.from({ length: 100 }, (_, index) => ({
        name: `s${index}`,
        try: Array.from({ length: 100 }, () => ({ name: "a" })),
        catch: [],
      })),
    ],
    ["levels", [nested(9)]],
  ] satisfies readonly (readonly [string, readonly Node[]])[])("has too many %s, and no flat list", (_, steps) => {
    expect(flatten(steps)).toEqual([]);
    expect(treeProblems(steps)).toEqual([
      { path: "steps", message: "a workflow may have 200 steps, those within others included, in 8 levels" },
    ]);
  });

  it("is one only beyond them", () => {
    expect(treeProblems([nested(7)])).toEqual([]);
  });
});

it("reads what it can of a stored tree that does not match its schema", () => {
  const odd = [
    null,
    5,
    { name: "a", if: 1, then: 5, elseIf: "x" },
    { name: "b", switch: {}, cases: [null, { steps: [null] }] },
  ] as unknown as readonly Node[];
  expect(flatten(odd).map(({ node }) => node.name)).toEqual(["a", "b"]);
});

it("lets the condition of a while read what a round has left, and no step before it", () => {
  const tree = [{ name: "first" }, { name: "again", while: "{{ 1 }}", steps: [{ name: "page" }] }, { name: "last" }];
  const [first, again, page, last] = flatten(tree as readonly Node[]);
  expect([first?.readable, again?.readable, page?.readable, last?.readable]).toEqual([
    [],
    ["first", "again", "page"],
    ["first", "again"],
    ["first", "again", "page"],
  ]);
  expect([[...(again?.uncertain ?? [])], [...(last?.uncertain ?? [])]]).toEqual([["again", "page"], ["page"]]);
});

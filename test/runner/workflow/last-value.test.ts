import { expect, it } from "vitest";
import { type StepNode } from "../../../domain/workflow/step-control.ts";
import { flatten } from "../../../domain/workflow/step-tree.ts";
import { lastValue, type Steps } from "../../../runner/workflow/position.ts";

interface Node extends StepNode<Node> {
  readonly name: string;
}

const last = (tree: readonly Node[], exports: Readonly<Record<string, object>>): unknown => {
  const steps = flatten(tree).map(({ node, control }) => ({ name: node.name, control })) as unknown as Steps; // The fields that are read.
  const texts = Object.fromEntries(Object.entries(exports).map(([name, each]) => [name, JSON.stringify(each)]));
  return JSON.parse(lastValue(texts, steps)) as unknown;
};
const value = (given: unknown): object => ({ $return_value: given });
const [one, two]: readonly [Node, Node] = [{ name: "one" }, { name: "two" }];

it.each<readonly [string, readonly Node[], Readonly<Record<string, object>>, unknown]>([
  ["that of the last step", [one, two], { one: value(1), two: value(2) }, 2],
  ["nothing, if the last step returned nothing", [one, two], { one: value("a token"), two: {} }, null],
  ["that of the last step that ran, if the run ended before the others", [one, two], { one: value(1) }, 1],
  ["what a called workflow returned", [{ name: "one", workflow: "p_1" }], { one: { ...value(7), $run: "r_1" } }, 7],
  [
    "the results of a loop, in place of its last item",
    [{ name: "all", forEach: "{{ [] }}", steps: [{ name: "two" }] }],
    { all: { $results: [1, 2] }, two: value(2) },
    [1, 2],
  ],
  [
    "that of the branch that ran",
    [{ name: "if", if: "{{ true }}", then: [{ name: "two" }], else: [{ name: "three" }] }],
    { if: { $branch: "else" }, three: value(3) },
    3,
  ],
  ["nothing, if no branch ran", [one, { name: "if", if: "{{ true }}", then: [{ name: "two" }] }], { one: value(1), if: {} }, null],
  [
    "that of the step which handled a failure",
    [{ name: "try", try: [{ name: "two" }], catch: [{ name: "three" }] }],
    { try: { $error: {} }, three: value("handled") },
    "handled",
  ],
  ["nothing, without steps", [], {}, null],
])("what a run returns is %s", (_, tree, exports, expected) => {
  expect(last(tree, exports)).toEqual(expected);
});

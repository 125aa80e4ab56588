import { expect, it } from "vitest";
import { controlLimits } from "../../../domain/workflow/control.ts";
import type { StepDeployment } from "../../../domain/workflow/deployment.ts";
import { branchSuspensions, type WorkflowRunState } from "../../../domain/workflow/run-state.ts";
import { flatten } from "../../../domain/workflow/step-tree.ts";
import type { StepControl } from "../../../domain/workflow/step-control.ts";
import { inBranch, leavesOf, settle } from "../../../runner/workflow/branches.ts";
import { decide } from "../../../runner/workflow/position.ts";
import { ResumedRuns } from "../../../runner/workflow/resumed-runs.ts";

interface Node extends StepControl<Node> {
  readonly name: string;
}

const state = {
  status: "running",
  next: 0,
  steps: {},
  sends: [],
  response: null,
  suspension: null,
  suspensions: 0,
} as unknown as WorkflowRunState; // What is read.

it("are open in a bounded number, and each step goes on with one at least", () => {
  const inner: Node = { name: "inner", forEach: "{{ 1 }}", concurrency: 50, steps: [{ name: "act" }] };
  const tree: Node[] = [{ name: "outer", forEach: "{{ 1 }}", concurrency: 50, steps: [inner] }];
  const steps = flatten(tree).map(({ node, control }) => ({ name: node.name, control })) as unknown as StepDeployment[]; // What is read.
  const list = Array.from({ length: 60 }, (_, item) => item);
  const split = (from: WorkflowRunState): WorkflowRunState => {
    const { name, control } = steps[from.next] ?? {};
    if (name === undefined || control === undefined) throw new Error("it controls nothing");
    const decided = decide(from, steps, { name, control }, list);
    if ("error" in decided) throw new Error(decided.error.message);
    return decided.state;
  };
  let run = settle(split(state), steps).state;
  expect(leavesOf(run)).toHaveLength(50);
  for (const { branch } of leavesOf(run))
    run = settle(
      inBranch(run, branch, (view) => ({ state: split(view) })),
      steps,
    ).state;
  const open = leavesOf(run).length;
  expect(open).toBeLessThanOrEqual(controlLimits.branches + 50);
  expect(new Set(leavesOf(run).map(({ state: { frames = [] } }) => frames[0]?.branch)).size).toBe(50);
});

it("answer a request to a URL early only if it is of the branch that was resumed", () => {
  const runs = new ResumedRuns();
  const answers: string[] = [];
  const ask = (suspension: number): void =>
    runs.answerEarly({ run: "r_1", suspension, action: "resume", answerTo: `answer.${suspension}` }, (subject) => answers.push(subject));
  const numbers = [1, 2].map((branch) => branch * branchSuspensions + 1);
  for (const number of numbers.slice(1)) runs.add("r_1", { number, how: "resumed", at: 1 });
  for (const number of numbers) ask(number);
  expect(answers).toEqual([`answer.${2 * branchSuspensions + 1}`]);
  runs.add("r_1", { number: numbers[0] ?? 0, how: "resumed", at: 1 });
  for (const number of numbers) ask(number);
  runs.delete("r_1");
  for (const number of numbers) ask(number);
  expect(answers).toHaveLength(3);
});

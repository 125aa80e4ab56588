import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StepDeployment } from "../../../domain/workflow/deployment.ts";
import { hasEnded, type WorkflowRunState } from "../../../domain/workflow/run-state.ts";
import { withSteps, type StepControl } from "../../../domain/workflow/step-control.ts";
import { exceedsLimits, flatten } from "../../../domain/workflow/step-tree.ts";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { inBranch, leavesOf, settle } from "../../../runner/workflow/branches.ts";
import { endInBranch, endStep, resumed } from "../../../runner/workflow/next-state.ts";
import { LoopLists } from "../../../runner/workflow/loop-lists.ts";
import { hasReachedEnd, itemsOf } from "../../../runner/workflow/position.ts";

/** A step of a tree. `act`: what an action does at each of its executions; `value`: what a control decides at each of its. */
interface Node extends StepControl<Node> {
  readonly name: string;
  readonly outcomes?: readonly ("returns" | "throws")[];
  /** Waits when it has ended. */
  readonly waits?: boolean;
  readonly values?: readonly unknown[];
  readonly continueOnError?: boolean;
}

/** What happened: the executions in order, how the run ended, and the exports at its end. */
interface Outcome {
  readonly executed: readonly string[];
  readonly status: string;
  readonly error?: string;
}

/** At the nth execution of a step, the last entry counts for all further ones. */
const nth = <T>(list: readonly T[], count: number): T | undefined => list[Math.min(count, list.length - 1)];

interface Options {
  /** Sees each state from which a step is executed. */
  readonly onStep?: (state: WorkflowRunState, steps: readonly StepDeployment[]) => void;
  /** Index of the branch that executes its next step, among those that may. */
  readonly choose?: (count: number) => number;
}

/** Runs the tree as runners do, one step at a time. */
function execute(tree: readonly Node[], { onStep = () => {}, choose = () => 0 }: Options = {}) {
  const flat = flatten(tree);
  const steps = flat.map(
    ({ node, control }) =>
      ({
        id: node.name,
        name: node.name,
        retries: 0,
        continueOnError: node.continueOnError ?? false,
        ...(control && { control }),
      }) as unknown as StepDeployment, // The fields that are read.
  );
  const counts = new Map<string, number>();
  const executed: string[] = [];
  let state = {
    status: "running",
    next: 0,
    failures: 0,
    reruns: 0,
    steps: {},
    sends: [],
    response: null,
    suspension: null,
    suspensions: 0,
  } as unknown as WorkflowRunState; // As above.
  let error: string | undefined;
  for (let count = 0; !hasEnded(state.status); count++) {
    if (count > 100_000) throw new Error("it does not end");
    const settled = settle(state, steps);
    error = settled.failure?.error.message;
    state = settled.state;
    if (settled.failure !== undefined || settled.exit !== undefined) {
      state = { ...state, status: settled.failure === undefined ? "exited" : "failed" };
      break;
    }
    if (hasReachedEnd(state, steps)) break;
    const leaves = leavesOf(state);
    expect(state.status).toBe(leaves.every((each) => each.state.status === "suspended") ? "suspended" : "running");
    const leaf = leaves[choose(leaves.length)];
    if (leaf === undefined) throw new Error("no branch goes on");
    if (leaf.state.suspension !== null) {
      state = inBranch(state, leaf.branch, (view) => ({ state: resumed(view, null) }));
      continue;
    }
    const [step, node] = [steps[leaf.state.next], flat[leaf.state.next]?.node];
    if (step === undefined || node === undefined) throw new Error(`no step ${leaf.state.next}`);
    onStep(leaf.state, steps);
    const visit = counts.get(step.name) ?? 0;
    counts.set(step.name, visit + 1);
    executed.push(step.name);
    const stored = JSON.parse(JSON.stringify(state)) as WorkflowRunState;
    const endOf = (view: WorkflowRunState) => endStep(executionOf(node, visit), view, { steps }, step, 1, 0, "r_1-c1");
    const end = leaf.branch === 0 ? endOf(stored) : endInBranch(stored, leaf.branch, steps, [], endOf);
    error = end.failure?.error.message;
    state = end.state;
  }
  if (!hasEnded(state.status)) state = { ...state, status: "succeeded" }; // There are no more steps.
  return { executed, status: state.status, ...(error === undefined ? {} : { error }), state };
}

function executionOf(node: Node, visit: number): Execution {
  const flow = node.waits === true ? { kind: "suspend", ms: null } : null;
  const action = { exports: {}, flow, inputs: null, sends: [] };
  if (nth(node.outcomes ?? ["returns"], visit) === "throws")
    return { outcome: "threw", error: { name: "Error", message: `${node.name} ${visit}` }, action } as unknown as Execution; // As above.
  const value = node.values === undefined ? visit : nth(node.values, visit);
  return {
    outcome: "returned",
    result: value === undefined ? null : JSON.stringify(value),
    response: null,
    action,
  } as unknown as Execution; // As above.
}

class Failure extends Error {}
class Stop extends Error {}

/** The same, said directly. */
function interpret(tree: readonly Node[]): Outcome {
  const executed: string[] = [];
  const counts = new Map<string, number>();
  const visit = (node: Node): number => {
    const count = counts.get(node.name) ?? 0;
    counts.set(node.name, count + 1);
    executed.push(node.name);
    return count;
  };
  const runAll = (nodes: readonly Node[] = []): void => nodes.forEach((node) => run(node));
  const run = (node: Node): void => {
    const count = visit(node);
    if (nth(node.outcomes ?? ["returns"], count) === "throws") {
      if (node.continueOnError === true) return;
      throw new Failure(`${node.name} ${count}`);
    }
    const value = node.values === undefined ? count : nth(node.values, count);
    if (node.stop !== undefined) throw new Stop();
    if (node.if !== undefined || node.switch !== undefined) {
      const parts =
        node.if !== undefined
          ? [node.then, ...(node.elseIf ?? []).map(({ then }) => then), node.else]
          : [...(node.cases ?? []).map(({ steps }) => steps), node.default];
      return runAll(typeof value === "number" ? parts[value] : undefined);
    }
    if (node.forEach !== undefined) return runEach(node, value);
    // As if each branch ended before the next one begins.
    if (node.parallel !== undefined) return node.parallel.forEach(runAll);
    if (node.while !== undefined) {
      for (let again: unknown = value; again === true; again = nth(node.values ?? [], visit(node))) runAll(node.steps);
      return;
    }
    if (node.try !== undefined) runTry(node);
  };
  const runEach = (node: Node, value: unknown): void => {
    for (const _ of value as readonly unknown[]) {
      try {
        runAll(node.steps);
      } catch (error) {
        if (!(error instanceof Failure) || node.onError !== "continue") throw error;
      }
    }
  };
  const runTry = (node: Node): void => {
    let pending: unknown;
    try {
      runAll(node.try);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (node.catch === undefined) pending = error;
      else
        try {
          runAll(node.catch);
        } catch (another) {
          if (!(another instanceof Failure)) throw another;
          pending = another;
        }
    }
    runAll(node.finally);
    if (pending !== undefined) throw pending as Failure;
  };
  try {
    runAll(tree);
    return { executed, status: "succeeded" };
  } catch (error) {
    return error instanceof Stop ? { executed, status: "exited" } : { executed, status: "failed", error: (error as Failure).message };
  }
}

const numbers = fc.array(fc.integer({ min: -1, max: 3 }), { minLength: 3, maxLength: 3 });
const leaf = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      outcomes: fc.array(fc.constantFrom("returns", "returns", "returns", "throws"), { minLength: 3, maxLength: 3 }),
      continueOnError: fc.boolean(),
      waits: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ stop: "enough" }) },
);
/** Trees without names. */
const { list } = fc.letrec<{ list: Node[]; node: Node; maybe: Node[] | undefined }>((tie) => ({
  list: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
  maybe: fc.option(tie("list"), { nil: undefined }),
  node: fc.oneof(
    { maxDepth: 3, depthIdentifier: "steps" },
    leaf,
    fc.record({
      if: fc.constant("{{ 1 }}"),
      then: tie("list"),
      elseIf: fc.array(fc.record({ if: fc.constant("{{ 1 }}"), then: tie("list") }), { maxLength: 2 }),
      else: tie("maybe"),
      values: numbers,
    }),
    fc.record({
      switch: fc.constant("{{ 1 }}"),
      cases: fc.array(fc.record({ equals: fc.constant(1), steps: tie("list") }), { minLength: 1, maxLength: 2 }),
      default: tie("maybe"),
      values: numbers,
    }),
    fc.record({
      forEach: fc.constant("{{ 1 }}"),
      steps: tie("list"),
      onError: fc.constantFrom("stop", "continue"),
      concurrency: fc.constantFrom(1, 2, 50),
      values: fc.tuple(fc.array(fc.nat(), { maxLength: 3 })),
    }),
    fc.record({
      while: fc.constant("{{ 1 }}"),
      steps: tie("list"),
      values: fc.nat(2).map((rounds) => [...Array.from({ length: rounds }, () => true), false]),
    }),
    fc.record({ parallel: fc.array(tie("list"), { minLength: 2, maxLength: 3 }) }),
    fc.record({ try: tie("list"), catch: tie("maybe"), finally: tie("list") }),
    fc.record({ try: tie("list"), catch: tie("list") }),
  ) as fc.Arbitrary<Node>, // Named below.
}));

function named(nodes: readonly Node[], next = { number: 0 }): readonly Node[] {
  return nodes.map((node) => {
    const name = `s${++next.number}`;
    return {
      ...node,
      ...withSteps(node, (steps: readonly Node[]) => named(steps, next)),
      name,
      ...(node.forEach === undefined ? {} : { as: `${name}_item` }),
    };
  });
}

/** The tree without steps that fail or end the run, each of which gives the same at each of its executions. */
function calm(nodes: readonly Node[]): readonly Node[] {
  return nodes.map(({ outcomes: _, stop: __, values, ...node }) => ({
    ...node,
    ...withSteps(node, calm),
    name: node.name,
    values: node.while === undefined ? [values?.[0] ?? node.name] : [false],
  }));
}

describe("a run with control flow", () => {
  it("executes the steps of any tree as an interpreter of the tree does", () => {
    const sameAsInterpreter = fc.property(
      list.map((nodes) => named(nodes)),
      (tree) => {
        fc.pre(!exceedsLimits(tree));
        const { executed, status, error } = execute(tree);
        expect({ executed, status, ...(error === undefined ? {} : { error }) }).toEqual(interpret(tree));
      },
    );
    fc.assert(sameAsInterpreter, { numRuns: 1_000 });
  });

  it("ends in the same way in whatever order its branches go on, if no step fails or ends it", () => {
    const inAnyOrder = fc.property(
      list.map((nodes) => calm(named(nodes))),
      fc.infiniteStream(fc.nat()),
      (tree, numbers) => {
        fc.pre(!exceedsLimits(tree));
        const inOrder = execute(tree);
        const mixed = execute(tree, { choose: (count) => (numbers.next().value ?? 0) % count });
        expect(mixed.executed.toSorted()).toEqual(inOrder.executed.toSorted());
        expect(mixed.state.steps).toEqual(inOrder.state.steps);
        expect([mixed.status, mixed.state.fork, mixed.state.frames]).toEqual(["succeeded", undefined, undefined]);
      },
    );
    fc.assert(inAnyOrder, { numRuns: 200 });
  });

  it("ends, and leaves no branch behind, in whatever order its branches go on and fail", () => {
    const inAnyOrder = fc.property(
      list.map((nodes) => named(nodes)),
      fc.infiniteStream(fc.nat()),
      (tree, numbers) => {
        fc.pre(!exceedsLimits(tree));
        const { state, status } = execute(tree, { choose: (count) => (numbers.next().value ?? 0) % count });
        expect(["succeeded", "failed", "exited"]).toContain(status);
        if (status === "succeeded") expect([state.fork, state.frames]).toEqual([undefined, undefined]);
      },
    );
    fc.assert(inAnyOrder, { numRuns: 200 });
  });

  it("gives each item to the steps of a loop, and their last results in order", () => {
    const items: unknown[] = [];
    const lists = new LoopLists();
    const { state } = execute(
      [{ name: "loop", forEach: "{{ 1 }}", as: "order", steps: [{ name: "double", values: [2, 4, 6] }], values: [[1, 2, 3]] }],
      { onStep: (now, steps) => items.push(...itemsOf(now, steps, lists).map(([name, text]) => [name, JSON.parse(text)])) },
    );
    expect(items).toEqual([0, 1, 2].map((index) => ["order", { item: index + 1, index }]));
    expect(state.steps["loop"]).toBe('{"$results":[2,4,6]}');
    expect(state.frames).toBeUndefined();
  });

  it("keeps the error of an item that fails as its result, if the loop continues", () => {
    const { status, state } = execute([
      {
        name: "loop",
        forEach: "{{ 1 }}",
        onError: "continue",
        steps: [{ name: "act", outcomes: ["throws", "returns"] }],
        values: [[1, 2]],
      },
    ]);
    expect(status).toBe("succeeded");
    expect(JSON.parse(state.steps["loop"] ?? "")).toEqual({ $results: [{ $error: { name: "Error", message: "act 0" } }, 1] });
  });

  it("lets steps of an item read nothing of the item before", () => {
    const seen: (readonly string[])[] = [];
    execute([{ name: "loop", forEach: "{{ 1 }}", steps: [{ name: "a" }, { name: "b" }], values: [[1, 2]] }], {
      onStep: ({ steps }) => seen.push(Object.keys(steps)),
    });
    expect(seen).toEqual([[], ["loop"], ["loop", "a"], ["loop"], ["loop", "a"]]);
  });

  it("refuses a list that each commit of its loop would write again", () => {
    const { status, error } = execute([{ name: "loop", forEach: "{{ 1 }}", steps: [{ name: "act" }], values: [["x".repeat(300_000)]] }]);
    expect([status, error]).toEqual(["failed", expect.stringContaining("it takes 262144")]);
  });

  it.each([
    ["not_a_list", { name: "loop", forEach: "{{ 1 }}", steps: [{ name: "act" }], values: ["text"] }],
    ["too_many_items", { name: "loop", forEach: "{{ 1 }}", maxItems: 1, steps: [{ name: "act" }], values: [[1, 2]] }],
    ["too_many_iterations", { name: "loop", while: "{{ 1 }}", maxIterations: 2, steps: [{ name: "act" }], values: [true] }],
  ] satisfies readonly (readonly [string, Node])[])("fails with %s", (code, node) => {
    const { status, error } = execute([node]);
    expect([status, error]).toEqual(["failed", expect.stringContaining("step 'loop'")]);
    const caught = execute([{ name: "guard", try: [node], catch: [{ name: "handled" }] }]);
    expect([caught.status, caught.executed.at(-1)]).toEqual(["succeeded", "handled"]);
    expect(caught.state.steps["guard"]).toContain(`"code":"${code}"`);
  });

  it("lets the condition of a while read how many rounds have ended", () => {
    const seen: unknown[] = [];
    execute([{ name: "again", while: "{{ 1 }}", steps: [{ name: "act" }], values: [true, true, false] }], {
      onStep: ({ steps, next }) => next === 0 && seen.push(steps["again"]),
    });
    expect(seen).toEqual([undefined, '{"$iterations":1}', '{"$iterations":2}']);
  });
});

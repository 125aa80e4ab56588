import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { returned, threw, treeOf, type Node } from "../integration/workflows/support.ts";
import type { ExecuteRequest, Execution } from "../../runner/sandbox/port.ts";

/** All that a step may control, within one another. The last step returns what it reads. */
const tree: readonly Node[] = [
  { name: "start" },
  {
    name: "fork",
    parallel: [
      [{ name: "a1" }, { name: "guard", try: [{ name: "bad" }], catch: [{ name: "handled" }], finally: [{ name: "clean" }] }],
      [
        {
          name: "each",
          forEach: "{{ 1 }}",
          concurrency: 2,
          steps: [{ name: "act" }, { name: "inner", parallel: [[{ name: "x" }], [{ name: "y" }]] }],
        },
      ],
      [{ name: "delay" }, { name: "c2" }],
      [
        { name: "check", switch: "{{ 1 }}", cases: [{ equals: 1, steps: [{ name: "chosen" }] }], default: [{ name: "other" }] },
        { name: "again", while: "{{ true }}", steps: [{ name: "turn" }] },
      ],
    ],
  },
  { name: "last" },
];

export const flow: WorkflowDeployment = { ...treeOf("p_flow", tree), owner: "u_1" };

/** What the last step reads, whatever has failed in between. */
const lastReads = {
  a1: { $return_value: "a1 " },
  again: { $iterations: 1 },
  c2: { $return_value: "c2 " },
  check: { $branch: "case_1" },
  chosen: { $return_value: "chosen " },
  clean: { $return_value: "clean " },
  delay: { $return_value: 1 },
  each: { $results: ["y 1", "y 2", "y 3"] },
  fork: { $results: ["clean ", null, "c2 ", "turn "] },
  guard: { $error: { name: "Error", message: "no luck" } },
  handled: { $return_value: "handled " },
  start: { $return_value: "start " },
  turn: { $return_value: "turn " },
};

/** The exports of the last step of each run. */
export const flowExports: string = JSON.stringify({ $return_value: lastReads });

/** The steps of each run, by name. */
export const flowSteps =
  "a1 act act act again again bad c2 check chosen clean delay each fork guard handled inner inner inner last start turn x x x y y y";

/** Executes a step. Its code is the same for all runs. */
export function executeStep({ bundle, action }: ExecuteRequest): Execution {
  const steps = JSON.parse(action?.steps ?? "{}") as Record<string, Record<string, unknown>>;
  const item = steps["item"]?.["item"];
  const rounds = Number(steps["again"]?.["$iterations"] ?? -1);
  switch (bundle.hash) {
    case "bad":
      return threw("no luck");
    case "delay":
      return returned(1, { flow: { kind: "delay", ms: 1_000 } });
    case "check":
      return returned(0);
    case "again":
      return returned(rounds < 1);
    case "each":
      return returned([1, 2, 3]);
    case "last":
      return returned(
        Object.fromEntries(
          Object.entries(steps)
            .filter(([name]) => name !== "trigger")
            .toSorted(),
        ),
      );
    default:
      return returned(`${bundle.hash} ${typeof item === "number" ? item : ""}`);
  }
}

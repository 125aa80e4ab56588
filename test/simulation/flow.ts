import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { returned, treeOf } from "../integration/workflows/support.ts";
import { executeStep, wholeFlow } from "../integration/workflows/whole-flow.ts";
import type { ExecuteRequest, Execution } from "../../runner/sandbox/port.ts";

export const flow: WorkflowDeployment = { ...treeOf("p_flow", wholeFlow), owner: "u_1" };

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

/** Executes a step. The last one returns what it reads. */
export function executeFlowStep({ bundle, action }: ExecuteRequest): Execution {
  const steps = JSON.parse(action?.steps ?? "{}") as Record<string, Record<string, unknown>>; // Written by the runner.
  if (bundle.hash !== "last") return executeStep(bundle.hash, steps, 1_000);
  return returned(
    Object.fromEntries(
      Object.entries(steps)
        .filter(([name]) => name !== "trigger")
        .toSorted(),
    ),
  );
}

import type { WorkflowRun } from "../client/generated/operations.ts";
import type { Context } from "./context.ts";
import { usageFailure } from "./failure.ts";
import type { Given } from "./given.ts";
import { idOf } from "./references.ts";

type Operation = "cancelWorkflowRun" | "pauseWorkflowRun" | "resumeWorkflowRun";

/** The workflow of `--run`: the only thing that is named. @throws Failure if there are others */
export function workflowOfRun(given: Given): string {
  const [workflow, ...others] = given.list("thing");
  if (workflow === undefined || others.length > 0)
    throw usageFailure("--run is for one workflow", "name the workflow of the run, and nothing else");
  return workflow;
}

/** Asks something of a run of a workflow, and says what has become of it. */
export async function controlRun(
  { client, out, terminal }: Context,
  {
    workflow,
    run,
    operation,
    body,
  }: { readonly workflow: string; readonly run: string; readonly operation: Operation; readonly body: object },
): Promise<void> {
  const id = await idOf(client, "workflows", workflow);
  const path = { workflow_id: id, run_id: run };
  const answer = await terminal.progress("Waiting for the step that runs", () => client.call(operation, { path, body }));
  await out.done(answer, `run ${run} ${outcomeOf(operation, answer.data)}`);
}

function outcomeOf(operation: Operation, { status }: WorkflowRun): string {
  if (operation === "resumeWorkflowRun") return "is resumed";
  return status === "running" ? "is still running: it changes when its step has ended" : `is ${status}`;
}

import { controlCode } from "../domain/workflow/control-code.ts";
import { listOf } from "../domain/workflow/step-control.ts";
import { flatten, type FlatStep } from "../domain/workflow/step-tree.ts";
import type { WorkflowSpec, WorkflowStep } from "./workflow.ts";

/**
 * All steps of a workflow, each before those within it, see domain/workflow/control.ts. One that controls others has the action that
 * evaluates its expression. Of a spec that does not fit its schema: what can be read of it; none of a tree over the limits.
 */
export function stepsOf({ steps }: { readonly steps?: WorkflowSpec["steps"] | undefined }): readonly FlatStep<WorkflowStep>[] {
  return flatten(listOf(steps)).map((flat) => (flat.control === undefined ? flat : { ...flat, node: actionOf(flat) }));
}

function actionOf({ node, value }: FlatStep<WorkflowStep>): WorkflowStep {
  return { ...node, code: controlCode, props: value === undefined ? {} : { value: value as WorkflowStep["props"][string] }, secrets: {} }; // Of a spec, which is JSON.
}

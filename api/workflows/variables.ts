import { componentKind } from "../../crds/component.ts";
import type { WorkflowResource, WorkflowStep } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import type { Warning } from "../../domain/component/warning.ts";
import { ExpressionBudget, findExpressions } from "../../domain/workflow/expressions.ts";
import { notSet, variablesReadByCode } from "../../domain/variable/variable.ts";
import type { ApiContext } from "../context.ts";
import { readableVariables } from "../variables/variable.ts";

const maxWarnings = 20;

interface Read {
  readonly step: string;
  /** Field of the step. */
  readonly path: string;
  readonly name: string;
}

/** Variables that steps read and that are not set. */
export async function warningsAboutVariables(workflow: WorkflowResource, context: ApiContext): Promise<readonly Warning[]> {
  const reads = await readsOf(workflow, context);
  const owner = reads.length === 0 ? undefined : await context.access.ownerOf(workflow);
  if (owner === undefined) return [];
  const known = new Set((await readableVariables(owner, context)).map(({ spec }) => spec.name));
  return reads
    .filter(({ name }) => !known.has(name))
    .slice(0, maxWarnings)
    .map(({ step, path, name }) => ({
      code: "variable_not_set",
      message: `step '${step}' reads a variable: ${notSet(name)}; set it with PUT /v1/variables/${name}`,
      path: `steps.${step}.${path}`,
    }));
}

async function readsOf({ metadata, spec }: WorkflowResource, { ports }: ApiContext): Promise<readonly Read[]> {
  const budget = new ExpressionBudget();
  const reads: Read[] = [];
  for (const { node, expressions = node.props } of stepsOf(spec)) {
    for (const { path, environment } of findExpressions(expressions, budget))
      for (const name of environment) reads.push({ step: node.name, path: `props.${path.slice(0, 200)}`, name });
    for (const name of variablesReadByCode(await codeOf(node, metadata.namespace, ports)))
      reads.push({ step: node.name, path: "code", name });
  }
  return reads;
}

/** The code that reads variables: that of the step. */
async function codeOf(
  { code = "", files = {}, componentRef, readsVariables }: WorkflowStep,
  namespace: string,
  { store }: ApiContext["ports"],
): Promise<string> {
  if (componentRef === undefined || readsVariables !== true) return [code, ...Object.values(files)].join("\n");
  const component = await store.find(componentKind, namespace, componentRef.name);
  return component === undefined ? "" : [component.spec.code ?? "", ...Object.values(component.spec.files ?? {})].join("\n");
}

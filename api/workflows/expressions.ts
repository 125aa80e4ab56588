import type { ComponentDefinition } from "../../domain/component/definition.ts";
import type { Warning } from "../../domain/component/warning.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { ExpressionBudget, expressionProblems, expressionWarnings } from "../../domain/workflow/expressions.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import type { StepFields } from "./request.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Checks that expressions can be parsed, and read only earlier steps. Secret props and accounts are not searched for them.
 * @throws InvalidInput that names the step and the prop of each problem
 */
export function checkExpressions(steps: readonly { readonly fields: StepFields; readonly definition: ComponentDefinition }[]): void {
  const names = steps.map(({ fields }) => fields.name);
  const budget = new ExpressionBudget();
  const problems = steps.flatMap(({ fields: { name, props, configured_props }, definition }, index) =>
    expressionProblems(name, evaluated(props ?? configured_props ?? {}, definition), names.slice(0, index), budget).map(
      ({ path, message }) => ({ field: `steps.${index}.props${path === "" ? "" : `.${path}`}`, message }),
    ),
  );
  if (problems.length === 0) return;
  throw new InvalidInput(problems.map(({ message }) => message).join("; "), { code: "invalid_expression", details: problems });
}

/** Without secrets and accounts, which are never evaluated. */
function evaluated(props: Values, definition: ComponentDefinition): Values {
  const skipped = new Set(definition.props.flatMap(({ name, type, secret }) => (secret === true || type === "app" ? [name] : [])));
  return Object.fromEntries(Object.entries(props).filter(([name]) => !skipped.has(name)));
}

/** Probable mistakes in the expressions of a stored workflow. Its spec has no secrets. */
export function warningsAboutExpressions({ spec }: WorkflowResource): readonly Warning[] {
  const steps = Array.isArray(spec.steps) ? spec.steps : []; // A stored resource may not match its schema.
  const names = steps.map(({ name }) => name);
  const budget = new ExpressionBudget();
  return steps.flatMap(({ name, props }, index) => expressionWarnings(name, props, names.slice(0, index), budget));
}

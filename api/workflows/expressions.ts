import { stepsOf } from "../../crds/workflow-steps.ts";
import { restPath } from "./control.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import type { Warning } from "../../domain/component/warning.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { ExpressionBudget, expressionProblems, expressionWarnings, findExpressions } from "../../domain/workflow/expressions.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";

type Values = Readonly<Record<string, unknown>>;

export interface CheckedStep {
  readonly name: string;
  /** `steps.0.then.1` */
  readonly path: string;
  readonly props: Values;
  /** Absent for a step that controls others. */
  readonly definition?: ComponentDefinition;
  /** Names that its expressions may read. */
  readonly readable: readonly string[];
}

/**
 * Checks that expressions can be parsed, and read only earlier steps. Secret props and accounts are not searched for them.
 * @throws InvalidInput that names the step and the prop of each problem
 */
export function checkExpressions(steps: readonly CheckedStep[]): void {
  const budget = new ExpressionBudget();
  const problems = steps.flatMap(({ name, path: place, props, definition, readable }) =>
    expressionProblems(name, definition === undefined ? props : evaluated(props, definition), readable, budget).map(
      ({ path, message }) => ({
        field: `${place}${path === "" ? "" : definition === undefined ? `.${restPath(path)}` : `.props.${path}`}`,
        message,
      }),
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
  const budget = new ExpressionBudget();
  return stepsOf(spec).flatMap(({ node: { name, props }, expressions = props, readable, uncertain }) => [
    ...expressionWarnings(name, expressions, readable, budget),
    ...uncertainReads(name, expressions, uncertain),
  ]);
}

/** Reads of steps within a branch, a loop or a try that may not have run, and that fail then. */
function uncertainReads(step: string, props: Values, uncertain: ReadonlySet<string>): readonly Warning[] {
  if (uncertain.size === 0) return [];
  return [...findExpressions(props)].flatMap(({ path, required }) =>
    required
      .filter((name) => uncertain.has(name))
      .map((name) => ({
        code: "may_not_have_run",
        message: `step '${step}', prop '${path}' reads steps.${name}, which may not have run then: it is within another step; write steps.${name}?.…`,
        path: `steps.${step}.props.${path}`,
      })),
  );
}

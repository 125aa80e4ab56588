import { InvalidInput } from "../../domain/errors.ts";
import { expressionProblems } from "../../domain/workflow/expressions.ts";
import type { StepFields } from "./request.ts";

/** Checks that expressions can be parsed, and read only earlier steps. @throws InvalidInput that names the step and the prop of each problem */
export function checkExpressions(steps: readonly StepFields[]): void {
  const names = steps.map(({ name }) => name);
  const problems = steps.flatMap(({ name, props, configured_props }, index) =>
    expressionProblems(name, props ?? configured_props ?? {}, names.slice(0, index)).map(({ path, message }) => ({
      field: `steps.${index}.props.${path}`,
      message,
    })),
  );
  if (problems.length === 0) return;
  throw new InvalidInput(problems.map(({ message }) => message).join("; "), { code: "invalid_expression", details: problems });
}

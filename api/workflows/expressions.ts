import type { StepFields } from "./request.ts";

/** Checks that expressions name only earlier steps. @throws InvalidInput that names the step and the prop */
export function checkExpressions(_steps: readonly StepFields[]): void {
  // Follows.
}

import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import type { RunRepetition } from "../../domain/workflow/run-control.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { Continued, Steps } from "./position.ts";

/** @param state the first one of the run @returns it with `failure` if the version has no such step */
export function beginRepetition(state: WorkflowRunState, { from, steps: exports }: RunRepetition, steps: Steps): Continued {
  const named = from === undefined ? 0 : steps.findIndex(({ name }) => name === from);
  if (named < 0)
    return failedRepetition(
      state,
      steps,
      "step_not_found",
      `the run cannot begin with step '${from}': this version of the workflow has no such step`,
    );
  // A part of a step has no meaning without what that step has decided.
  const outermost = steps.findIndex(({ control }, index) => index < named && control !== undefined && named < control.end);
  const next = outermost < 0 ? named : outermost;
  const before = steps.slice(0, next).flatMap(({ name }) => (exports[name] === undefined ? [] : [[name, exports[name]] as const]));
  return { state: { ...state, next, steps: Object.fromEntries(before) } };
}

/** A run that was to repeat another one on its version. @param current that which exists */
export function versionForgotten(state: WorkflowRunState, { id, steps }: WorkflowDeployment): Continued {
  const message = `version ${state.deployment} of the workflow is no longer stored: repeat the run on the current version`;
  return failedRepetition({ ...state, deployment: id }, steps, "version_forgotten", message);
}

/** A run that cannot begin. @param steps the error is that of the first one */
export function failedRepetition(state: WorkflowRunState, [first]: Steps, code: string, message: string): Continued {
  const step = { id: first?.id ?? "", name: first?.name ?? "" };
  return { state, failure: { error: { name: "RepetitionError", code, message }, step } };
}

import type { RunError } from "../../domain/run-products.ts";
import { hopLimitCode } from "../../domain/invocation/hops.ts";
import { callErrorName, maxCallDays, type Returned } from "../../domain/workflow/call.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { notExecuted } from "../run/execute.ts";
import type { Execution } from "../sandbox/port.ts";
import { suspensionsOf } from "./branches.ts";
import type { StepEnd } from "./next-state.ts";

// A run that waits for another one which it has called, see domain/workflow/call.ts.

/** The state of a run whose step gets what the run that it has called gives. */
export function returnedTo(state: WorkflowRunState, returned: Returned): WorkflowRunState {
  return { ...state, status: "running", suspension: null, returned };
}

/** What a run gets whose called run has not ended in time: its workflow was deleted, or it waits itself. */
export const notReturned = (run: string): Returned => ({
  run,
  status: "failed",
  value: "null",
  error: { name: callErrorName, code: "not_returned", message: `the called run ${run} has not ended within ${maxCallDays} days` },
});

/** The error of the step of a run that was called and has not succeeded. */
function callError({ run, status, error }: Returned): RunError | undefined {
  if (status === "succeeded" || status === "exited") return undefined;
  // In a chain of calls the first cause counts.
  if (error?.name === callErrorName) return { ...error };
  // It keeps its code, by which no step of the chain is retried: each would call all those behind it again.
  if (error?.code === hopLimitCode) return { ...error, name: callErrorName };
  const why = error === undefined ? "" : `: ${error.name}: ${error.message}`;
  return {
    name: callErrorName,
    code: `workflow_${status}`,
    message: `the called run ${run} has ${status === "failed" ? "failed" : "been canceled"}${why}`,
  };
}

/**
 * The caller of the trigger waits for called runs, too, and for nothing else that suspends the run. The state keeps its address, because
 * another invocation goes on with the run.
 */
export function forCaller(answerTo: string | undefined, end: StepEnd): StepEnd {
  const { answerTo: stored, ...state } = end.state;
  const waits = suspensionsOf(state).some(({ kind }) => kind === "call") || (state.status === "running" && stored !== undefined);
  return { ...end, state: waits && answerTo !== undefined ? { ...state, answerTo } : state };
}

/** The execution of a step whose called run has ended. */
export function executionOf(returned: Returned): Execution {
  const error = callError(returned);
  if (error !== undefined) return notExecuted(error);
  return { outcome: "returned", result: null, emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 };
}

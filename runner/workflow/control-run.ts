import { maxSuspensionMs } from "../../domain/workflow/resume-request.ts";
import type { RunControl } from "../../domain/workflow/run-control.ts";
import { hasEnded, type WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { Returned } from "../../domain/workflow/call.ts";
import { inBranch, leavesOf, type Leaf } from "./branches.ts";
import { returnedTo } from "./called-run.ts";
import { resumed, suspended, withEnd } from "./next-state.ts";

/** The state from which the run continues. */
export interface Begun {
  readonly state: WorkflowRunState;
  /** Why the run is canceled instead; absent: it is not. */
  readonly canceled?: string;
  /** Why the run waits instead of going on; absent: it goes on. */
  readonly paused?: string;
  /** The invocation ends the suspension of the run. */
  readonly endsSuspension?: boolean;
}

/**
 * What a request of the API means for a run in this state; undefined: nothing.
 * @param now epoch ms @param number of the last commit of the run; only of a suspended one it counts
 */
export function controlled(
  state: WorkflowRunState,
  { action, reason, data, after }: RunControl,
  now: number,
  number?: number,
): Begun | undefined {
  if (hasEnded(state.status)) return undefined;
  const isWaiting = state.status === "suspended";
  switch (action) {
    case "cancel":
      return { state: withEnd(state, "canceled", now), canceled: reason ?? "it was canceled", endsSuspension: isWaiting };
    case "pause":
      return isWaiting ? undefined : { state, paused: reason ?? "it is paused" };
    case "resume": {
      if (!isWaiting || after !== number) return undefined;
      const resume = ({ branch, state: view }: Leaf, run: WorkflowRunState) =>
        inBranch(run, branch, () => ({ state: goOn(view, data, now) }));
      return { state: leavesOf(state).reduce((run, leaf) => resume(leaf, run), state), endsSuspension: true };
    }
  }
}

function goOn(state: WorkflowRunState, data: unknown, now: number): WorkflowRunState {
  const { suspension } = state;
  if (suspension === null) return state;
  if (suspension.called !== undefined) return returnedTo(state, answerOf(suspension.called, data));
  return resumed(withEnd(state, "resumed", now), data === undefined ? null : JSON.stringify({ body: data }));
}

/** A request of the API that has arrived before the next step, if there is one. */
export function controlledBy(control: RunControl | undefined, begun: Begun, now: number): Begun {
  if (control === undefined || begun.canceled !== undefined) return begun;
  return controlled(begun.state, control, now) ?? begun;
}

/** What the API gives in place of a called run, which goes on by itself. */
const answerOf = ({ run }: { readonly run: string }, data: unknown): Returned => ({
  run,
  status: "succeeded",
  value: JSON.stringify(data ?? null),
});

/** A pause ends as a suspension does, if nothing resumes the run. That of a paused run, whose branch goes on, stays. */
export const pauseRun = (state: WorkflowRunState, now: number): WorkflowRunState =>
  state.suspension?.kind === "pause" ? state : suspended(state, "pause", now + maxSuspensionMs);

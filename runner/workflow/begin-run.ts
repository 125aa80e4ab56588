import { Unavailable } from "../../domain/errors.ts";
import { withParsedBody } from "../../domain/invocation/http-body.ts";
import type { WorkflowCommit } from "../../domain/run/commit.ts";
import type { RunControl } from "../../domain/workflow/run-control.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { isEndMarker, parseEndMarker, type EndedRun } from "../../domain/workflow/run-commit.ts";
import type { Suspension, WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { receivedEvent } from "../run/execute.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import { branchOf, inBranch } from "./branches.ts";
import { controlled, type Begun } from "./control-run.ts";
import { notReturned, returnedTo } from "./called-run.ts";
import { resumed, withEnd } from "./next-state.ts";

/** The last message of a run's history: a commit, or the marker after the end, which has no state. */
export type LastOfRun = WorkflowCommit | { readonly state: null; readonly ended: EndedRun | undefined };

/** @param last undefined: the run has no history. @returns undefined if the invocation does nothing */
export function begin(
  received: ReceivedInvocation,
  last: LastOfRun | undefined,
  current: WorkflowDeployment,
  now: number,
): Begun | undefined {
  const { invocation } = received;
  if (last === undefined) {
    if (invocation.trigger === "control" && invocation.control?.action === "cancel" && invocation.delivery !== undefined)
      return canceledBefore(received, current, invocation.control, now);
    if (invocation.trigger === "resume" || invocation.trigger === "control") return undefined;
    // It was accepted before the workflow was switched off.
    if (!current.active) throw new Unavailable(`workflow ${current.workflow} is not active: its run waits`);
    return { state: firstState(received, current, now) };
  }
  const { state } = last;
  if (state === null) return undefined;
  const { control } = invocation;
  if (control !== undefined) return controlled(state, control, now, last.workflow.number) ?? { state };
  return endSuspension(state, invocation, now) ?? { state };
}

/** Undefined: the invocation has no effect on what waits. */
function endSuspension(run: WorkflowRunState, invocation: Invocation, now: number): Begun | undefined {
  const { resume } = invocation;
  if (resume === undefined) return undefined;
  const branch = branchOf(resume.suspension);
  let begun: Begun | undefined;
  const state = inBranch(run, branch, (view) => {
    begun = endSuspensionOf(view, { ...invocation, resume }, now);
    return begun ?? { state: view };
  });
  if (begun === undefined) return undefined;
  // A paused run stays so when one of its branches goes on.
  const paused = branch !== 0 && run.suspension?.kind === "pause" ? { paused: "it is paused" } : {};
  return { ...begun, ...paused, state };
}

type ResumeInvocation = Invocation & Required<Pick<Invocation, "resume">>;

function endSuspensionOf(state: WorkflowRunState, invocation: ResumeInvocation, now: number): Begun | undefined {
  const { resume } = invocation;
  if (state.suspension === null || state.suspension.number !== resume.suspension) return undefined;
  // A step may have given out a URL of this number, and not waited for it.
  if (state.suspension.kind === "pause" && resume.action !== "wake") return undefined;
  if (state.suspension.kind === "call" && resume.action !== "wake")
    return invocation.returned?.run === state.suspension.called?.run && invocation.returned !== undefined
      ? { state: returnedTo(state, invocation.returned), endsSuspension: true }
      : undefined;
  if (resume.action === "cancel")
    return { state: withEnd(state, "canceled", now), canceled: "its cancel URL was requested", endsSuspension: true };
  if (state.suspension.called !== undefined)
    return { state: returnedTo(state, notReturned(state.suspension.called.run)), endsSuspension: true };
  if (resume.action === "wake" && isLimited(state.suspension))
    return { state: withEnd(state, "timed_out", now), canceled: "nothing resumed it in time", endsSuspension: true };
  const ended = withEnd(state, resume.action === "wake" ? "continued" : "resumed", now);
  // The guest parses only the body of the trigger's event.
  const request = invocation.event === undefined ? null : JSON.stringify(withParsedBody(invocation.event));
  return { state: resumed(ended, request), endsSuspension: true };
}

/** A called run that is canceled with its caller before its call has arrived: the call then finds the end of the run. */
const canceledBefore = (received: ReceivedInvocation, current: WorkflowDeployment, { reason }: RunControl, now: number): Begun => ({
  state: firstState({ ...received, invocation: { ...received.invocation, trigger: "event", event: null } }, current, now),
  canceled: reason ?? "it was canceled",
});

/** Whether the run is canceled when the time of its suspension has come. */
const isLimited = ({ kind }: Suspension): boolean => kind === "suspend" || kind === "pause";

export function firstState({ invocation, storedAt }: ReceivedInvocation, { id }: WorkflowDeployment, now: number): WorkflowRunState {
  const { trigger, metadata, hops, way, repeats, caller } = invocation;
  const event = JSON.stringify(receivedEvent(invocation, storedAt));
  return {
    status: "running",
    deployment: repeats?.deployment ?? id,
    startedAt: now,
    trigger: { kind: trigger, event, ...(metadata === undefined ? {} : { metadata }), at: storedAt },
    ...(hops === undefined ? {} : { hops }),
    ...(way === undefined ? {} : { way }),
    next: 0,
    failures: 0,
    reruns: 0,
    rerunContext: null,
    steps: {},
    sends: [],
    response: null,
    suspension: null,
    suspensions: 0,
    resumedBy: null,
    ...(caller === undefined ? {} : { caller }),
  };
}

export function parseLast(text: string): LastOfRun {
  return isEndMarker(text) ? { state: null, ended: parseEndMarker(text) } : (JSON.parse(text) as WorkflowCommit); // Written by a runner from a typed value.
}

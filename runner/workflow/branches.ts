import { Invariant } from "../../domain/errors.ts";
import { controlLimits, type StepFailure } from "../../domain/workflow/control.ts";
import {
  branchSuspensions,
  hasEnded,
  type Branch,
  type Fork,
  type Position,
  type Suspension,
  type WorkflowRunState,
} from "../../domain/workflow/run-state.ts";
import { resultsOf, withResult } from "../../domain/workflow/fork-results.ts";
import { hasReachedEnd, leaveEndedParts, objectOf, partOf, resultOf, shownError, unwind, type OpenPart, type Steps } from "./position.ts";

/**
 * Branches of a run that go side by side. A branch is looked at as a run of its own: its *view* is a state whose frames and exports are those
 * around it, then a frame that is its border, then its own. What works on the state of a run works on a view, and what has become of the view
 * is put back into the state.
 */

/** What a step, a request or the passing of time has made of a view. */
export interface Became {
  readonly state: WorkflowRunState;
  /** Of a branch that has failed. */
  readonly failure?: StepFailure | undefined;
  /** Of one that has exited the run. */
  readonly reason?: string | undefined;
}

/** A run, or a branch of it, that has no branches: it executes a step, or waits. */
export interface Leaf extends Pick<Position, "status" | "suspension"> {
  /** Number of the branch; 0: the run. */
  readonly branch: number;
  /** Its view, which is made when it is first read: of many branches, few have something to do. */
  readonly state: WorkflowRunState;
}

/** Those that have not ended. A run that is paused waits as a whole. */
export const leavesOf = (state: WorkflowRunState): readonly Leaf[] => leavesIn(state, 0, () => state);

function leavesIn({ status, suspension, fork }: Position, branch: number, view: () => WorkflowRunState): readonly Leaf[] {
  let made: WorkflowRunState | undefined;
  const state = (): WorkflowRunState => (made ??= view());
  if (fork !== undefined && suspension === null)
    return fork.branches.filter(isOpen).flatMap((each) => leavesIn(each, each.id, () => viewOf(state(), fork, each)));
  const leaf = {
    branch,
    status,
    suspension,
    get state() {
      return state();
    },
  };
  return [leaf];
}

/** Suspensions of a run and of its branches, in their order. */
export function suspensionsOf({ suspension, fork }: Pick<Position, "suspension" | "fork">): readonly Suspension[] {
  return [...(suspension === null ? [] : [suspension]), ...(fork?.branches ?? []).filter(isOpen).flatMap(suspensionsOf)];
}

/** Number of the branch to which a suspension belongs, also a future one. 0: the run. */
export const branchOf = (suspension: number): number => Math.floor(suspension / branchSuspensions);

/** The view of a branch. Undefined: it has not begun, or is over. */
export function viewOfBranch(state: WorkflowRunState, branch: number): WorkflowRunState | undefined {
  let found: WorkflowRunState | undefined;
  inBranch(state, branch, (view) => {
    found = view;
    return { state: view };
  });
  return found;
}

/** Whether none of these branches is over. */
export function hasAll({ fork }: Pick<Position, "fork">, branches: readonly number[]): boolean {
  const open = new Set(openBranches(fork));
  return branches.every((branch) => open.has(branch));
}

/** Those around others are among them. */
const openBranches = (fork: Fork | undefined): readonly number[] =>
  fork === undefined ? [] : fork.branches.filter(isOpen).flatMap((each) => [each.id, ...openBranches(each.fork)]);

/** The state with what a change makes of the view of a branch; the state itself for a branch that is over. */
export function inBranch(state: WorkflowRunState, branch: number, change: (view: WorkflowRunState) => Became): WorkflowRunState {
  if (branch === 0) return withStatus(change(state).state);
  const { fork } = state;
  const found = fork?.branches.find((each) => isOpen(each) && (each.id === branch || holds(each, branch)));
  if (fork === undefined || found === undefined) return state;
  const view = viewOf(state, fork, found);
  const became = found.id === branch ? change(view) : { state: inBranch(view, branch, change) };
  return withStatus(putBack(state, fork, found, became));
}

/** Where a run goes on. `exit`: a branch has exited it; with a reason, or null. */
export interface Settled {
  readonly state: WorkflowRunState;
  readonly failure?: StepFailure;
  readonly exit?: string | null;
}

/** Whether the run ends. */
export const isOver = ({ failure, exit }: Settled): boolean => failure !== undefined || exit !== undefined;

/** Leaves parts and branches that have ended, and begins branches, until steps follow, all that is left waits, or the run has ended. */
export function settle(given: WorkflowRunState, steps: Steps, room: Room = roomOf(given)): Settled {
  let now = given;
  for (;;) {
    if (now.suspension !== null) return { state: now };
    if (now.fork === undefined) return leaveEndedParts(now, steps);
    const { state, fork } = settleBranches(now, now.fork, steps, room);
    const left = leaveFork(state, fork, steps);
    if (left === undefined) return { state: withStatus(state) };
    if (isOver(left)) return left;
    now = left.state;
  }
}

const isOpen = ({ status }: Branch): boolean => status === "running" || status === "suspended";

const holds = ({ fork }: Branch, branch: number): boolean =>
  fork?.branches.some((each) => each.id === branch || holds(each, branch)) === true;

/** Branches that may still begin: a run keeps the state of each that is open, and asks for a place for each. */
interface Room {
  left: number;
}

const roomOf = ({ fork }: WorkflowRunState): Room => ({ left: controlLimits.branches - openBranches(fork).length });

/** It is suspended while each of its branches waits. What is around a branch that has just ended may say so still: it settles. */
function withStatus(state: WorkflowRunState): WorkflowRunState {
  if (state.fork === undefined || state.suspension !== null || hasEnded(state.status)) return state;
  const open = state.fork.branches.filter(isOpen);
  return { ...state, status: open.length > 0 && open.every(({ status }) => status === "suspended") ? "suspended" : "running" };
}

/** The step that has split the run, and the part of the branch. */
const forkOf = ({ next }: WorkflowRunState, { items }: Fork, index: number, steps: Steps): OpenPart =>
  partOf({ step: next, part: items === undefined ? index : 0 }, steps);

function viewOf(state: WorkflowRunState, fork: Fork, branch: Branch): WorkflowRunState {
  const { id, index, failure: _failure, reason: _reason, frames = [], steps, ...position } = branch;
  const { fork: _fork, returned: _returned, suspensionEnd: _end, ...around } = state;
  const ofItem = { step: state.next, part: 0, index, ...(fork.items === undefined ? {} : { items: fork.items }), branch: id };
  const border = fork.items === undefined ? { step: state.next, part: index, branch: id } : ofItem;
  return { ...around, ...position, frames: [...(around.frames ?? []), border, ...frames], steps: { ...around.steps, ...steps } };
}

function putBack(state: WorkflowRunState, fork: Fork, { id, index }: Branch, { failure, reason, state: view }: Became): WorkflowRunState {
  const { status, next, failures, reruns, rerunContext, suspension, suspensions, resumedBy } = view;
  const frames = (view.frames ?? []).slice((state.frames ?? []).length + 1);
  const branch: Branch = {
    id,
    index,
    status,
    next,
    ...(frames.length === 0 ? {} : { frames }),
    ...(view.fork === undefined ? {} : { fork: view.fork }),
    failures,
    reruns,
    rerunContext,
    // Only its own steps have exports that the run around it does not have.
    steps: Object.fromEntries(Object.entries(view.steps).filter(([name, text]) => state.steps[name] !== text)),
    suspension,
    suspensions,
    ...(view.suspensionEnd === undefined ? {} : { suspensionEnd: view.suspensionEnd }),
    resumedBy,
    ...(view.returned === undefined ? {} : { returned: view.returned }),
    ...(failure === undefined ? {} : { failure }),
    ...(reason === undefined ? {} : { reason }),
  };
  return {
    ...state,
    sends: view.sends,
    response: view.response,
    ...(view.forked === undefined ? {} : { forked: view.forked }),
    // What a request to one of its URLs returns once the branch is over.
    ...(view.suspensionEnd === undefined ? {} : { suspensionEnd: view.suspensionEnd }),
    fork: {
      ...fork,
      branches: fork.branches.map((each) => (each.id === id ? branch : each)),
      ...(fork.endedBy === undefined && (status === "failed" || status === "exited") ? { endedBy: id } : {}),
    },
  };
}

/** Ends branches whose last step has run, and begins as many as may be under way. */
function settleBranches(
  given: WorkflowRunState,
  from: Fork,
  steps: Steps,
  room: Room,
): { readonly state: WorkflowRunState; readonly fork: Fork } {
  let state = given;
  let fork = from;
  const endAll = (): void => {
    for (const branch of fork.branches) {
      const { id } = branch;
      if (isSettled(branch, forkOf(state, fork, branch.index, steps), steps)) continue;
      // One around others is settled also if all of them seem to wait.
      if (isOpen(branch) && branch.suspension === null)
        state = putBack(state, fork, branch, settleView(viewOf(state, fork, branch), steps, room));
      fork = withResultOf(state, forkedOf(state), id, steps);
      state = { ...state, fork };
    }
  };
  endAll();
  const { control } = forkOf(state, fork, 0, steps);
  // Nothing begins beside a failure that ends them all.
  const mayBegin = (): boolean => {
    const open = fork.branches.filter(isOpen).length;
    return open === 0 || (open < (control.sideBySide ?? 1) && room.left > 0);
  };
  while (fork.started < fork.count && mayBegin() && !fork.branches.some((each) => endsAll(each, control.continues === true))) {
    room.left--;
    const id = (state.forked ?? 0) + 1;
    const { part } = forkOf(state, fork, fork.started, steps);
    fork = { ...fork, started: fork.started + 1, branches: [...fork.branches, newBranch(id, fork.started, part.from)] };
    state = { ...state, forked: id, fork };
    if (part.from === part.to) endAll();
  }
  return { state, fork };
}

/** Whether a branch is where its next step runs. Most are: one of many has just ended a step. */
function isSettled({ status, suspension, fork, frames = [], next }: Branch, { part }: OpenPart, steps: Steps): boolean {
  if (status === "suspended") return suspension !== null;
  if (status !== "running" || suspension !== null || fork !== undefined) return false;
  const frame = frames.at(-1);
  return next < (frame === undefined ? part : partOf(frame, steps).part).to;
}

function settleView(view: WorkflowRunState, steps: Steps, room: Room): Became {
  const { state, failure, exit } = settle(view, steps, room);
  if (failure !== undefined) return { state: { ...state, status: "failed" }, failure };
  if (exit !== undefined) return { state: { ...state, status: "exited" }, ...(exit === null ? {} : { reason: exit }) };
  return { state: hasReachedEnd(state, steps) ? { ...state, status: "succeeded" } : state };
}

const newBranch = (id: number, index: number, next: number): Branch => ({
  id,
  index,
  status: "running",
  next,
  failures: 0,
  reruns: 0,
  rerunContext: null,
  steps: {},
  suspension: null,
  suspensions: id * branchSuspensions,
  resumedBy: null,
});

/** What an ended branch has given. Of an item nothing else is needed. */
function withResultOf(state: WorkflowRunState, fork: Fork, id: number, steps: Steps): Fork {
  const branch = fork.branches.find((each) => each.id === id);
  if (branch === undefined || isOpen(branch)) return fork;
  const { control, part } = forkOf(state, fork, branch.index, steps);
  if (endsAll(branch, control.continues === true)) return fork;
  const result =
    branch.failure === undefined
      ? resultOf(viewOf(state, fork, branch), part, steps)
      : objectOf("$error", shownError(branch.failure.error));
  const branches = fork.items === undefined ? fork.branches : fork.branches.filter((each) => each.id !== id);
  return { ...withResult(fork, branch.index, result), branches };
}

/** A branch that has exited the run, or one whose failure is not to be a result. */
const endsAll = ({ status }: Branch, continues: boolean): boolean => status === "exited" || (status === "failed" && !continues);

/** Undefined while branches are under way. A failure or an exit ends the others where they are. */
function leaveFork(state: WorkflowRunState, fork: Fork, steps: Steps): Settled | undefined {
  const { name, control } = steps[state.next] ?? {};
  if (name === undefined || control === undefined)
    throw new Invariant(`a run has branches in step ${state.next}, which its version does not have`);
  const { fork: _fork, ...around } = state;
  const joined: WorkflowRunState = { ...around, status: "running" };
  const ending = fork.branches.filter((each) => endsAll(each, control.continues === true));
  const last = ending.find(({ id }) => id === fork.endedBy) ?? ending[0];
  if (last?.status === "exited") return { state: { ...joined, next: control.end }, exit: last.reason ?? null };
  if (last?.failure !== undefined) return unwind({ ...joined, next: control.end }, steps, last.failure);
  if (fork.started < fork.count || fork.branches.some(isOpen)) return undefined;
  const exports = fork.items === undefined ? Object.assign({}, ...fork.branches.map((each) => each.steps)) : {};
  const results = `{"$results":[${resultsOf(fork)
    .map((result) => result ?? "null")
    .join(",")}]}`;
  return { state: { ...joined, next: control.end, steps: { ...state.steps, ...exports, [name]: results } } };
}

function forkedOf({ fork }: WorkflowRunState): Fork {
  if (fork === undefined) throw new Invariant("a run has branches until they are joined");
  return fork;
}

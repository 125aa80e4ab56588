import { Invariant } from "../../domain/errors.ts";
import { hopLimitCode } from "../../domain/invocation/hops.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { RunError } from "../../domain/run-products.ts";
import { calledRun, maxCallDays, type Call } from "../../domain/workflow/call.ts";
import type { StepFailure } from "../../domain/workflow/control.ts";
import type { StepDeployment, WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { defaultSuspensionMs } from "../../domain/workflow/resume-request.ts";
import type { CommittedStep } from "../../domain/workflow/run-commit.ts";
import type { Suspension, SuspensionEnd, WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { limits } from "../sandbox/limits.ts";
import { hasAll, inBranch, isOver, settle } from "./branches.ts";
import { decide, hasReachedEnd, leaveEndedParts, unwind, type Continued, type Steps } from "./position.ts";
import type { ActionProducts, Execution, FlowRequest } from "../sandbox/port.ts";

/** What the attempt of a step means for its run. */
export interface StepEnd {
  readonly outcome: CommittedStep["outcome"];
  /** Of the step. */
  readonly error: RunError | null;
  /** With which the run fails: that of the step, or one whose `finally` has ended with it; absent: it does not fail. */
  readonly failure?: StepFailure;
  /** JSON text of the step's exports. */
  readonly exports: string;
  readonly inputs: string | null;
  readonly state: WorkflowRunState;
  readonly reason?: string;
  /** The run that it starts. */
  readonly call?: Call;
}

/** Codes of errors that another attempt would meet again. */
const notRetried: ReadonlySet<string | undefined> = new Set([hopLimitCode, "files_full", "files_too_many"]);
const retryDelays = { firstMs: 1_000, maxMs: 300_000 };
const defaultMaxReruns = 10;
const dayMs = 86_400_000;
const noProducts: ActionProducts = { exports: {}, flow: null, sends: [], inputs: null };

/**
 * The state of a run after an attempt of its next step. Pure: the table of `stepOutcomes` as code.
 * @param call id of the call that the step makes if it is one
 */
export function endStep(
  execution: Execution,
  before: WorkflowRunState,
  { steps }: Pick<WorkflowDeployment, "steps">,
  step: StepDeployment,
  now: number,
  random: number,
  call: string,
): StepEnd {
  const products = (execution.outcome === "crashed" ? undefined : execution.action) ?? noProducts;
  const { flow, inputs } = products;
  const returned = before.returned;
  const state = withoutReturned(before);
  const thrown = errorOf(execution);
  const { name, control } = step;
  const decided = thrown === null && control !== undefined ? decide(state, steps, { name, control }, valueOf(execution)) : undefined;
  const refused = decided !== undefined && "error" in decided ? decided.error : null;
  const error = thrown ?? refused ?? (flow?.kind === "rerun" ? rerunLimit(flow, state) : null) ?? sendLimit(products, state);
  if (error !== null) return { ...failed(error, products, state, step, thrown !== null, now, random, steps), error, inputs };
  const placed =
    decided !== undefined && "state" in decided
      ? decided
      : { state: { ...state, next: state.next + 1 }, exports: exportsText(products, execution) };
  if (control?.kind === "call" && returned === undefined)
    return { error: null, inputs, ...called(placed.state, state, step, valueOf(execution), call, now, steps) };
  const exports = returned === undefined ? placed.exports : callExports(returned.run, returned.value);
  const done = afterStep(placed.state, step, exports, execution, products);
  const ended = { error: null, exports, inputs };
  if (control?.kind === "stop") return { ...ended, ...exited(done, reasonOf(valueOf(execution))) };
  switch (flow?.kind) {
    case "exit":
      return { ...ended, ...exited(done, flow.reason) };
    case "delay":
      return { ...ended, outcome: "suspended", state: suspended(done, "delay", now + flow.ms) };
    case "suspend":
      return { ...ended, outcome: "suspended", state: suspended(done, "suspend", now + (flow.ms ?? defaultSuspensionMs)) };
    case "rerun": {
      const again = { ...done, next: state.next, steps: state.steps, reruns: state.reruns + 1, rerunContext: flow.context };
      return { ...ended, outcome: "rerun", state: suspended(again, "rerun", now + flow.ms) };
    }
    default:
      return { ...ended, outcome: "succeeded", ...finished(leaveEndedParts(done, steps), steps) };
  }
}

/**
 * The end of a step of a branch, as one of the run, which goes on beside it. If it ends all branches, that shows when the run goes on: until then
 * steps of others that have begun end, too.
 * @param started branches whose next step is executed
 */
export function endInBranch(
  run: WorkflowRunState,
  branch: number,
  steps: Steps,
  started: readonly number[],
  end: (view: WorkflowRunState) => StepEnd,
): StepEnd {
  let ended: StepEnd | undefined;
  const state = inBranch(run, branch, (view) => {
    ended = end(view);
    return ended;
  });
  if (ended === undefined) throw new Invariant(`a step of branch ${branch} has ended, which is over`);
  const { failure: _, reason: __, ...said } = ended;
  const settled = settle(state, steps);
  const isCaught = said.outcome === "failed" && !isOver(settled);
  const isLeft = isOver(settled) || !hasAll(settled.state, started);
  return { ...said, ...(isCaught ? { outcome: "continued" } : {}), state: isLeft ? { ...state, status: "running" } : settled.state };
}

/** The step ends once the run that it has started has ended, or at once if it does not wait. */
function called(
  done: WorkflowRunState,
  state: WorkflowRunState,
  { name, control }: StepDeployment,
  event: unknown,
  id: string,
  now: number,
  steps: Steps,
): Pick<StepEnd, "outcome" | "exports" | "state" | "failure" | "call"> {
  const workflow = control?.workflow ?? "";
  const run = calledRun(id);
  const call: Call = { id, workflow, event: JSON.stringify(event) };
  if (control?.waits !== true) {
    const exports = callExports(run);
    const ended = { ...asNew(done), steps: { ...done.steps, [name]: exports } };
    return { outcome: "succeeded", exports, call, ...finished(leaveEndedParts(ended, steps), steps) };
  }
  const waiting = suspended(state, "call", now + maxCallDays * dayMs);
  const { suspension } = waiting;
  if (suspension === null) throw new Invariant("a suspended run has a suspension");
  return {
    outcome: "suspended",
    exports: "{}",
    call: { ...call, suspension: suspension.number },
    state: { ...waiting, suspension: { ...suspension, called: { workflow, run } } },
  };
}

const callExports = (run: string, value = "null"): string => objectText({ $return_value: value, $run: JSON.stringify(run) });

function withoutReturned({ returned: _, ...state }: WorkflowRunState): WorkflowRunState {
  return state;
}

/** The run ends with its last step, or with an error whose `finally` has run. */
function finished({ state, failure }: Continued, steps: Steps): Pick<StepEnd, "state" | "failure"> {
  if (failure !== undefined) return { state: { ...state, status: "failed" }, failure };
  return { state: hasReachedEnd(state, steps) ? { ...state, status: "succeeded" } : state };
}

function exited(state: WorkflowRunState, reason: string | null): Pick<StepEnd, "outcome" | "state" | "reason"> {
  return { outcome: "exited", state: { ...state, status: "exited" }, ...(reason === null ? {} : { reason }) };
}

function valueOf(execution: Execution): unknown {
  return execution.outcome === "returned" && execution.result !== null ? JSON.parse(execution.result) : null;
}

const reasonOf = (value: unknown): string | null => (value === null ? null : typeof value === "string" ? value : JSON.stringify(value));

/** The state with how its suspension ended. A retry or pause has given no URLs to anyone, so it keeps the end of the suspension before. */
export function withEnd(state: WorkflowRunState, how: SuspensionEnd["how"], at: number): WorkflowRunState {
  const { suspension } = state;
  if (
    suspension === null ||
    suspension.kind === "pause" ||
    suspension.kind === "call" ||
    (suspension.kind === "retry" && how === "continued")
  )
    return state;
  return { ...state, suspensionEnd: { number: suspension.number, how, at } };
}

/** The state of a run that goes on after a suspension. @param request JSON text of the request to its resume URL; null: there was none */
export function resumed(state: WorkflowRunState, request: string | null): WorkflowRunState {
  // A pause is between two steps: the next one reads what has resumed the run before.
  const resumedBy = state.suspension?.kind === "pause" ? state.resumedBy : request;
  const goesOn: WorkflowRunState = { ...state, status: "running", suspension: null, resumedBy };
  // The request is what the suspended step was waiting for: later steps read it from its exports.
  const last = Object.entries(state.steps).at(-1);
  if (state.suspension?.kind !== "suspend" || request === null || last === undefined) return goesOn;
  const [name, exports] = last;
  return { ...goesOn, steps: { ...state.steps, [name]: withField(exports, "$resume_data", request) } };
}

/** The state of an ended run without the data that only steps read. */
export function withoutData({ frames: _, fork: __, files: ___, ...state }: WorkflowRunState): WorkflowRunState {
  const trigger = { kind: state.trigger.kind, event: "null", at: state.trigger.at };
  return { ...state, trigger, steps: {}, sends: [], rerunContext: null, resumedBy: null };
}

function failed(
  error: RunError,
  products: ActionProducts,
  state: WorkflowRunState,
  step: StepDeployment,
  mayRetry: boolean,
  now: number,
  random: number,
  steps: Steps,
): Pick<StepEnd, "outcome" | "exports" | "state" | "failure"> {
  const exports = objectText(products.exports);
  const failures = state.failures + 1;
  if (mayRetry && failures <= step.retries && !notRetried.has(error.code)) {
    const until = now + Math.round(backoffMs(failures, retryDelays, random));
    return { outcome: "retried", exports, state: suspended({ ...state, failures }, "retry", until) };
  }
  if (step.continueOnError) {
    const { name, message, code, stack } = error;
    const withError = withField(exports, "$error", JSON.stringify({ name, message, code, stack }));
    const next = step.control?.end ?? state.next + 1;
    const goesOn = { ...asNew({ ...state, next }), steps: { ...state.steps, [step.name]: withError } };
    return { outcome: "continued", exports: withError, ...finished(leaveEndedParts(goesOn, steps), steps) };
  }
  const failure = { error, step: { id: step.id, name: step.name } };
  const continued = unwind(state, steps, failure);
  if (continued.failure === failure) return { outcome: "failed", exports, state: { ...state, failures, status: "failed" }, failure };
  return { outcome: "continued", exports, ...finished({ ...continued, state: asNew(continued.state) }, steps) };
}

/** The next step has not been attempted yet. */
function asNew(state: WorkflowRunState): WorkflowRunState {
  return { ...state, failures: 0, reruns: 0, rerunContext: null, resumedBy: null };
}

/** @param state with the position behind the step */
function afterStep(
  state: WorkflowRunState,
  step: StepDeployment,
  exports: string,
  execution: Execution,
  { sends }: ActionProducts,
): WorkflowRunState {
  const response = execution.outcome === "crashed" ? null : execution.response;
  return {
    ...asNew(state),
    steps: { ...state.steps, [step.name]: exports },
    sends: [...state.sends, ...sends.map((send) => ({ ...send, step: step.name }))],
    response: response ?? state.response,
  };
}

export function suspended(state: WorkflowRunState, kind: Suspension["kind"], until: number): WorkflowRunState {
  const number = state.suspensions + 1;
  return { ...state, status: "suspended", suspensions: number, suspension: { kind, number, until } };
}

function rerunLimit({ maxRetries }: Extract<FlowRequest, { kind: "rerun" }>, { reruns }: WorkflowRunState): RunError | null {
  const max = maxRetries ?? defaultMaxReruns;
  if (reruns < max) return null;
  return {
    name: "RerunLimit",
    code: "rerun_limit",
    message: `the step asked to be run again ${reruns + 1} times: $.flow.rerun allows ${max}`,
  };
}

/** A run ends with all of its sends in one commit. */
function sendLimit({ sends }: ActionProducts, { sends: before }: WorkflowRunState): RunError | null {
  if (sends.length === 0) return null;
  const emails = [...before, ...sends].filter(({ kind }) => kind === "email").length;
  const [count, max, what] =
    emails > limits.emails ? [emails, limits.emails, "$.send.email"] : [before.length + sends.length, limits.sends, "$.send"];
  if (count <= max) return null;
  return {
    name: "SendLimit",
    code: "send_limit",
    message: `the steps of this run have called ${what} ${count} times: a run may do it ${max} times`,
  };
}

function exportsText({ exports }: ActionProducts, execution: Execution): string {
  const result = execution.outcome === "returned" ? execution.result : null;
  return objectText(result === null ? exports : { ...exports, $return_value: result });
}

/** The JSON text of an object of JSON texts. */
const objectText = (fields: Readonly<Record<string, string>>): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(",")}}`;

const withField = (object: string, name: string, value: string): string =>
  object === "{}" ? objectText({ [name]: value }) : `${object.slice(0, -1)},${JSON.stringify(name)}:${value}}`;

function errorOf(execution: Execution): RunError | null {
  switch (execution.outcome) {
    case "returned":
      return null;
    case "crashed":
      return { name: "RunnerCrash", code: "runner_crash", message: `the process of this step ended twice: ${execution.message}` };
    default:
      return execution.error;
  }
}

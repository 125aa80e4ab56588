import { Invariant } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-products.ts";
import { controlLimits, type Control, type Frame, type Part, type StepFailure } from "../../domain/workflow/control.ts";
import type { StepDeployment } from "../../domain/workflow/deployment.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import type { LoopLists } from "./loop-lists.ts";

/** All steps of a workflow in the order of the flat list, see domain/workflow/control.ts. */
export type Steps = readonly StepDeployment[];

/** Where a run goes on. `failure`: nothing catches it, so the run fails. */
export interface Continued {
  readonly state: WorkflowRunState;
  readonly failure?: StepFailure;
}

/** A step that controls others. */
export type Controlling = Pick<StepDeployment, "name"> & { readonly control: Control };

/** What such a step has decided: where the run goes on and what the step exports, JSON text; or why it cannot. */
export type Decision = { readonly state: WorkflowRunState; readonly exports: string } | { readonly error: RunError };

/** Leaves the parts that have ended, until a step follows or the workflow, or the branch, has ended. */
export function leaveEndedParts(state: WorkflowRunState, steps: Steps): Continued {
  let now = state;
  for (;;) {
    const frame = now.frames?.at(-1);
    if (frame === undefined) return { state: now };
    const open = partOf(frame, steps);
    if (now.next < open.part.to || frame.branch !== undefined) return { state: now };
    if (frame.failure !== undefined) return unwind(leave(now, open.control.end), steps, frame.failure);
    now = behindPart(now, frame, open, steps);
  }
}

/** Whether no step follows in the workflow, or in the branch. The parts that have ended were left. */
export function hasReachedEnd({ frames = [], next, fork }: WorkflowRunState, steps: Steps): boolean {
  const frame = frames.at(-1);
  if (fork !== undefined) return false;
  return frame === undefined ? next >= steps.length : frame.branch !== undefined && next >= partOf(frame, steps).part.to;
}

/** Nothing catches a failure of the next step. */
export function withoutFrames({ frames: _, ...state }: WorkflowRunState): WorkflowRunState {
  return state;
}

/** Goes on where a failure is caught: with the next item of a loop that continues, or with the `catch` or `finally` of a try. */
export function unwind(state: WorkflowRunState, steps: Steps, failure: StepFailure): Continued {
  let now = state;
  for (;;) {
    const frame = now.frames?.at(-1);
    if (frame === undefined || frame.branch !== undefined) return { state: now, failure };
    const { control, name, part } = partOf(frame, steps);
    if (control.continues === true) {
      const results = [...(frame.results ?? []), objectOf("$error", shownError(failure.error))];
      return leaveEndedParts({ ...replaceFrame(now, { ...frame, results }), next: part.to }, steps);
    }
    const handler = handlerOf(control, frame);
    if (handler !== undefined) {
      const isCaught = control.parts[handler]?.name === "catch";
      const caught = isCaught ? { ...now, steps: { ...now.steps, [name]: objectOf("$error", shownError(failure.error)) } } : now;
      const entered = replaceFrame(caught, { step: frame.step, part: handler, ...(isCaught ? {} : { failure }) });
      return leaveEndedParts({ ...entered, next: control.parts[handler]?.from ?? control.end }, steps);
    }
    now = leave(now, control.end);
  }
}

/** @param state its next step is the one that has decided @param value what it returned */
export function decide(state: WorkflowRunState, steps: Steps, { name, control }: Controlling, value: unknown): Decision {
  switch (control.kind) {
    case "choice": {
      const index = typeof value === "number" ? value : -1;
      const part = control.parts[index];
      const exports = objectOf("$branch", part?.name ?? null);
      return {
        state: part === undefined ? { ...state, next: control.end } : enter(state, { step: state.next, part: index }, part),
        exports,
      };
    }
    case "each":
      return decideEach(state, steps, { name, control }, value);
    case "parallel":
      return { state: forked(state, control.parts.length), exports: "{}" };
    case "repeat":
      return decideRepeat(state, steps, { name, control }, value);
    case "try": {
      const [body] = control.parts;
      return {
        state: body === undefined ? { ...state, next: control.end } : enter(state, { step: state.next, part: 0 }, body),
        exports: "{}",
      };
    }
    case "stop":
    case "call":
      return { state: { ...state, next: control.end }, exports: "{}" };
  }
}

/** What the enclosing loops add to `steps`: JSON texts by name, `{"item": …, "index": …}`. */
export function itemsOf(
  { frames = [] }: WorkflowRunState,
  steps: Steps,
  lists: LoopLists,
): readonly (readonly [name: string, text: string])[] {
  return frames.flatMap((frame) => {
    const { control } = partOf(frame, steps);
    const { items, index = 0 } = frame;
    if (control.as === undefined || items === undefined) return [];
    return [[control.as, `{"item":${lists.item(items, index)},"index":${index}}`] as const];
  });
}

function decideEach(state: WorkflowRunState, steps: Steps, { name, control }: Controlling, value: unknown): Decision {
  const { parts, max = 0, end } = control;
  const [body] = parts;
  if (!Array.isArray(value)) {
    const given = value === null ? "nothing" : `of type ${typeof value}`;
    return refused("not_a_list", `for_each of step '${name}' needs a list, and its value is ${given}`);
  }
  if (value.length > max)
    return refused("too_many_items", `for_each of step '${name}' got ${value.length} items: it takes ${max} (max_items)`);
  if (value.length === 0 || body === undefined) return { state: { ...state, next: end }, exports: objectOf("$results", []) };
  const items = JSON.stringify(value);
  const bytes = Buffer.byteLength(items);
  if (bytes > controlLimits.listBytes)
    return refused(
      "list_too_large",
      `for_each of step '${name}' got ${bytes} bytes of JSON: it takes ${controlLimits.listBytes}; pass ids`,
    );
  if (control.sideBySide !== undefined) return { state: forked(withoutExportsOf(state, body, steps), value.length, items), exports: "{}" };
  const frame = { step: state.next, part: 0, index: 0, items, count: value.length, results: [] };
  return { state: enter(withoutExportsOf(state, body, steps), frame, body), exports: "{}" };
}

/** The branches begin when the run goes on, see branches.ts. */
const forked = (state: WorkflowRunState, count: number, items?: string): WorkflowRunState => ({
  ...state,
  fork: { count, started: 0, ...(items === undefined ? {} : { items }), results: Array.from({ length: count }, () => null), branches: [] },
});

function decideRepeat(state: WorkflowRunState, steps: Steps, { name, control }: Controlling, value: unknown): Decision {
  const { parts, max = 0, end } = control;
  const [body] = parts;
  const last = state.frames?.at(-1);
  const rounds = last?.step === state.next ? (last.index ?? 0) + 1 : 0;
  const outside = rounds === 0 ? state : leave(state, end);
  const exports = objectOf("$iterations", rounds);
  if (value !== true || body === undefined) return { state: { ...outside, next: end }, exports };
  if (rounds >= max) return refused("too_many_iterations", `while of step '${name}' was true more than ${max} times (max_iterations)`);
  return { state: enter(withoutExportsOf(outside, body, steps), { step: state.next, part: 0, index: rounds }, body), exports };
}

export interface OpenPart extends Controlling {
  readonly part: Part;
}

export function partOf(frame: Pick<Frame, "step" | "part">, steps: Steps): OpenPart {
  const { name, control } = steps[frame.step] ?? {};
  const part = control?.parts[frame.part];
  if (name === undefined || control === undefined || part === undefined)
    throw new Invariant(`a run is in part ${frame.part} of step ${frame.step}, which its version does not have`);
  return { name, control, part };
}

function behindPart(state: WorkflowRunState, frame: Frame, { name, control, part }: OpenPart, steps: Steps): WorkflowRunState {
  const { index = 0, count = 0, results = [] } = frame;
  switch (control.kind) {
    case "each": {
      const all = results.length > index ? results : [...results, resultOf(state, part, steps)];
      if (index + 1 < count)
        return { ...replaceFrame(withoutExportsOf(state, part, steps), { ...frame, index: index + 1, results: all }), next: part.from };
      return { ...leave(state, control.end), steps: { ...state.steps, [name]: `{"$results":[${all.join(",")}]}` } };
    }
    case "repeat":
      // Its condition reads how many rounds have ended.
      return { ...state, next: frame.step, steps: { ...state.steps, [name]: objectOf("$iterations", index + 1) } };
    case "try": {
      const last = control.parts.findIndex((each) => each.name === "finally");
      if (last <= frame.part) return leave(state, control.end);
      return { ...replaceFrame(state, { step: frame.step, part: last }), next: control.parts[last]?.from ?? control.end };
    }
    default:
      return leave(state, control.end);
  }
}

/** Index of the part of a try that follows an error in the present one. */
function handlerOf({ kind, parts }: Control, { part }: Frame): number | undefined {
  if (kind !== "try") return undefined;
  const handler = parts.findIndex(({ name }, index) => index > part && (part === 0 ? name !== "body" : name === "finally"));
  return handler < 0 ? undefined : handler;
}

/** What the last action or call of the part that ran has returned, JSON text. */
export function resultOf({ steps: exports }: WorkflowRunState, { from, to }: Part, steps: Steps): string {
  const last = steps
    .slice(from, to)
    .findLast(({ name, control }) => (control === undefined || control.kind === "call") && Object.hasOwn(exports, name));
  const { $return_value: value = null } = JSON.parse(exports[last?.name ?? ""] ?? "{}") as Readonly<Record<string, unknown>>; // A step's exports.
  return JSON.stringify(value);
}

/**
 * What the last step that ran has returned, JSON text: of a step with others within it, what the last one of these has, of a `for_each` its
 * results. Null if it returned nothing.
 */
export function lastValue(
  exports: WorkflowRunState["steps"],
  steps: Steps,
  { from, to }: Pick<Part, "from" | "to"> = whole(steps),
): string {
  let value = "null";
  for (let at = from; at < to; at = steps[at]?.control?.end ?? at + 1) {
    const { name = "", control } = steps[at] ?? {};
    if (!Object.hasOwn(exports, name)) continue;
    const own = JSON.parse(exports[name] ?? "{}") as Readonly<Record<string, unknown>>; // A step's exports.
    if (control === undefined || control.kind === "call") value = JSON.stringify(own["$return_value"] ?? null);
    else if (control.kind === "each" || control.kind === "parallel") value = JSON.stringify(own["$results"] ?? null);
    else value = control.parts.map((part) => lastValue(exports, steps, part)).findLast((each) => each !== "null") ?? "null";
  }
  return value;
}

const whole = (steps: Steps): Pick<Part, "from" | "to"> => ({ from: 0, to: steps.length });

const framesOf = ({ frames = [] }: WorkflowRunState): readonly Frame[] => frames;

function enter(state: WorkflowRunState, frame: Frame, part: Part): WorkflowRunState {
  return { ...state, frames: [...framesOf(state), frame], next: part.from };
}

/** With another frame in place of the last one. */
const replaceFrame = (state: WorkflowRunState, frame: Frame): WorkflowRunState => ({
  ...state,
  frames: [...framesOf(state).slice(0, -1), frame],
});

function leave({ frames = [], ...state }: WorkflowRunState, next: number): WorkflowRunState {
  const outer = frames.slice(0, -1);
  return { ...state, next, ...(outer.length === 0 ? {} : { frames: outer }) };
}

/** Steps of the next item must not read what those of this one have left. */
export function withoutExportsOf(state: WorkflowRunState, { from, to }: Part, steps: Steps): WorkflowRunState {
  const names = new Set(steps.slice(from, to).map(({ name }) => name));
  return { ...state, steps: Object.fromEntries(Object.entries(state.steps).filter(([name]) => !names.has(name))) };
}

const refused = (code: string, message: string): Decision => ({ error: { name: "ControlError", code, message } });
export const objectOf = (name: string, value: unknown): string => JSON.stringify({ [name]: value });
export const shownError = ({ name, message, code, stack }: RunError): object => ({ name, message, code, stack });

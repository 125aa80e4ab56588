import { z } from "zod";
import { controlLimits } from "../../domain/workflow/control.ts";
import { withSteps, type StepControl } from "../../domain/workflow/step-control.ts";
import { flag, optional, text } from "../http/request/parameters.ts";

/** Control flow in requests and responses: {@link StepControl} with the names of the REST API. */
export interface ControlFields<Step> extends Omit<StepControl<Step>, "elseIf" | "forEach" | "maxItems" | "onError" | "maxIterations"> {
  readonly else_if?: StepControl<Step>["elseIf"];
  readonly for_each?: string | undefined;
  readonly max_items?: number | undefined;
  readonly on_error?: "stop" | "continue" | undefined;
  readonly max_iterations?: number | undefined;
}

const integer = (maximum: number) => {
  const message = `it must be an integer from 1 to ${maximum}`;
  return z.int(message).min(1, message).max(maximum, message);
};

/** The fields of control flow of a step in a request. @param nested a list of steps, for the fields that have one */
export function controlShape<Steps extends z.ZodType>(nested: Steps) {
  const steps = optional(nested);
  const expression = text.max(16_384, "it must have at most 16384 characters");
  return {
    if: optional(expression).describe("Runs `then` if this expression is true, such as `{{ steps.order.total > 100 }}`."),
    then: steps.describe("Of `if`."),
    else_if: optional(z.array(z.object({ if: expression, then: nested })).max(20, "it must have at most 20 items")).describe(
      "Of `if`: further conditions, in order.",
    ),
    else: steps.describe("Of `if`: if no condition is true."),
    switch: optional(expression).describe("Runs the first of `cases` that fits the value of this expression."),
    cases: optional(
      z
        .array(z.object({ equals: z.unknown().optional(), when: optional(expression), steps: nested }))
        .max(50, "it must have at most 50 items"),
    ).describe("Of `switch`: each has `equals`, a value, or `when`, an expression."),
    default: steps.describe("Of `switch`: if no case fits."),
    for_each: optional(expression).describe("Runs `steps` for each item of the list that this expression gives, in order."),
    concurrency: optional(integer(controlLimits.sideBySide)).describe("Of `for_each`: how many items are under way at a time. Default: 1."),
    as: optional(text).describe("Of `for_each`: its steps read `steps.<as>.item` and `steps.<as>.index`. Default: `item`."),
    max_items: optional(integer(controlLimits.items)).describe("Of `for_each`: a longer list is an error. Default: 1,000."),
    on_error: optional(z.enum(["stop", "continue"], "it must be stop or continue")).describe(
      "Of `for_each`: `continue`: an item that fails is a result with `$error`.",
    ),
    parallel: optional(z.array(nested).max(50, "it must have at most 50 lists")).describe(
      "Lists of steps that run side by side; the run goes on when all have ended.",
    ),
    while: optional(expression).describe("Runs `steps` as long as this expression is true."),
    max_iterations: optional(integer(controlLimits.iterations)).describe("Of `while`: more rounds are an error. Default: 1,000."),
    steps: steps.describe("Of `for_each` and `while`."),
    try: steps.describe("Steps whose failure `catch` or `finally` handles."),
    catch: steps.describe("Of `try`: after a failure, `steps.<name>.$error`."),
    finally: steps.describe("Of `try`: in any case, at last."),
    workflow: optional(text).describe("Runs another workflow of the owner, by id or name; the step returns what its last step returned."),
    event: z.unknown().optional().describe("Of `workflow`: the event of its run, a JSON value with expressions. Default: `{}`."),
    wait: optional(flag).describe("Of `workflow`: false: the run goes on at once, and the step returns null. Default: true."),
    stop: optional(text).describe("Ends the run as `exited`, with this reason, which may contain expressions."),
  };
}

/** The names in REST that are not those of {@link StepControl}. */
const renamed = [
  ["else_if", "elseIf"],
  ["for_each", "forEach"],
  ["max_items", "maxItems"],
  ["on_error", "onError"],
  ["max_iterations", "maxIterations"],
] as const satisfies readonly (readonly [keyof ControlFields<unknown>, keyof StepControl])[];

export const controlOf = <From, To>(fields: ControlFields<From>, convert: (steps: readonly From[]) => readonly To[]): StepControl<To> =>
  withSteps(controlFieldsOf(fields, new Map(renamed)) as StepControl<From>, convert); // By the names.

export const controlResponse = <From, To>(
  control: StepControl<From>,
  convert: (steps: readonly From[]) => readonly To[],
): ControlFields<To> =>
  controlFieldsOf(withSteps(control, convert), new Map(renamed.map(([rest, spec]) => [spec, rest]))) as ControlFields<To>; // By the names.

const namesInRest = new Set<string>(Object.keys(controlShape(z.unknown())));

/** The fields of control flow among those of a step, under their other names. */
function controlFieldsOf(step: object, otherNames: ReadonlyMap<string, string>): object {
  const fields = Object.entries(step).map(([name, value]) => [name, otherNames.get(name) ?? name, value] as const);
  const isControl = (name: string, other: string): boolean => namesInRest.has(name) || namesInRest.has(other);
  return Object.fromEntries(
    fields.flatMap(([name, other, value]) => (value !== undefined && isControl(name, other) ? [[other, value]] : [])),
  );
}

/** `steps[0].elseIf[1].then[0]` → `steps.0.else_if.1.then.0`. */
export const restPath = (path: string): string =>
  path.replaceAll(/\[(\d+)\]/g, ".$1").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

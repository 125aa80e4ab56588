import { z } from "zod";
import { intervalBounds } from "../../domain/schedule/schedule.ts";
import { catchUpBounds, jitterBounds, overlaps } from "../../domain/schedule/timer-options.ts";
import { HeadwaterError, InvalidInput } from "../../domain/errors.ts";
import { stepNamePattern } from "../../domain/workflow/step-id.ts";
import { codeFields } from "../components/request.ts";
import { answeredFields } from "../http/request/nested-names.ts";
import { flag, optional, optionalText, text } from "../http/request/parameters.ts";
import { controlShape, type ControlFields } from "./control.ts";
import { stepSchema, triggerSchema, triggerTypes } from "./schemas.ts";

const integer = (minimum: number, maximum: number) => {
  const message = `it must be an integer from ${minimum} to ${maximum}`;
  return z.int(message).min(minimum, message).max(maximum, message);
};

const trigger = z.object({
  type: optional(z.enum(triggerTypes, `it must be ${triggerTypes.join(", ")}`)).describe("May be absent beside `source_id`."),
  source_id: optionalText(text.max(60, "it must have at most 60 characters")).describe("Each event of this source starts a run."),
  cron: optionalText(text.max(255, "it must have at most 255 characters")).describe("Of a timer: five fields, such as `*/5 * * * *`."),
  interval_seconds: optional(integer(intervalBounds.minimum, intervalBounds.maximum)).describe("Of a timer, instead of `cron`."),
  timezone: optionalText(text.max(64, "it must have at most 64 characters")).describe("Of a timer with `cron`; default UTC."),
  jitter_seconds: optional(integer(jitterBounds.minimum, jitterBounds.maximum)).describe(
    "Of a timer: a tick is due up to so many seconds later, always the same for one tick. Less than the time between two ticks.",
  ),
  overlap: optional(z.enum(overlaps, `it must be ${overlaps.join(", ")}`)).describe(
    "Of a timer: what a tick does while the last run of the timer has not ended; default `allow`.",
  ),
  catch_up: optional(integer(catchUpBounds.minimum, catchUpBounds.maximum)).describe(
    "Of a timer: how many of the last ticks run that were missed while the workflow was inactive or Headwater was down.",
  ),
  custom_response: optional(flag).describe(
    "Of `http`. True: the caller waits for `$.respond`. By default it does if a step's code calls `$.respond`.",
  ),
});
answeredFields.add(trigger, { fields: Object.keys(triggerSchema.shape) });
export type TriggerFields = z.output<typeof trigger>;

const values = z.record(z.string(), z.unknown());
const action = codeFields.extend({
  id: optionalText(text.max(60, "it must have at most 60 characters")).describe("Of a step that is renamed: its id, `c_…`."),
  name: text
    .regex(stepNamePattern, "it must begin with a letter, _ or $, and have at most 63 letters, digits, _ and $")
    .describe("Later steps and expressions read its exports as `steps.<name>`."),
  component_key: codeFields.shape.key,
  key: codeFields.shape.key.describe("The same as component_key."),
  props: optional(values).describe("Values by name of the prop. Texts may have expressions: `{{ steps.trigger.event.body }}`."),
  configured_props: optional(values).describe("The same as props."),
  continue_on_error: optional(flag).describe("True: a failure does not end the run."),
  retries: optional(integer(0, 10)).describe("Number of attempts after the first one has failed."),
  timeout_ms: optional(integer(1, 3_600_000)).describe("Time of one attempt."),
});
export interface StepFields extends z.output<typeof action>, ControlFields<StepFields> {}

const nested = z.lazy((): z.ZodType<readonly StepFields[]> => z.array(step).max(100, "it must have at most 100 items"));
const controlling = action.extend(controlShape(nested)).meta({ id: "WorkflowStepFields" });
answeredFields.add(controlling, { fields: Object.keys(stepSchema.shape) });
const step = controlling as unknown as z.ZodType<StepFields>; // A schema that contains itself has no inferred type.

const settings = z.object({
  concurrency: integer(1, 1_000).nullish().describe("Maximum runs at once; null: no limit."),
  throttle: z
    .object({ runs: integer(1, 1_000_000), interval_seconds: integer(1, 86_400) })
    .nullish()
    .describe("Maximum runs that start within the interval; null: no limit."),
  queue_size: integer(1, 10_000).nullish().describe("Maximum runs that wait; null: the limit of the installation."),
  ordered: optional(flag).describe("True: runs are executed one at a time, in the order of their events."),
  error_mails: optional(flag).describe("False: its errors are not mailed."),
});
export type SettingsFields = z.output<typeof settings>;

const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters").describe("Display name.");
const changeable = {
  active: optional(flag).describe("False: it does not run, and events delivered to it wait."),
  triggers: optional(z.array(trigger).max(20, "it must have at most 20 items")).describe("What starts runs, besides subscriptions."),
  steps: optional(z.array(step).max(100, "it must have at most 100 items")).describe("Steps, in order."),
  settings: optional(settings).describe("How many runs are executed at once, and whether errors are mailed."),
};

/** The body of POST. */
export const workflowFields = z.object({ name, ...changeable });
export type WorkflowFields = z.output<typeof workflowFields>;

/** The body of PUT. Absent fields stay. */
export const workflowChanges = z.object({ name: optional(name).describe("Display name."), ...changeable });
export type WorkflowChanges = z.output<typeof workflowChanges>;

/** The steps of a draft, for a test. */
export const draftSteps = changeable.steps;

/** Parses a body, and names the step of each problem besides its number. @throws InvalidInput */
export function withStepNames<Fields>(body: () => Fields, given: unknown): Fields {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof InvalidInput) || !Array.isArray(error.details) || !Array.isArray(given)) throw error;
    const message = (error.details as readonly { field: string; message: string }[]) // From `parse`.
      .map(({ field, message }) => `${describeField(field, given)} ${message}`)
      .join("; ");
    throw new InvalidInput(message, { code: error.code, details: error.details, cause: error });
  }
}

/** `steps.0.retries` → `step 'fetch': retries`. */
function describeField(field: string, steps: readonly unknown[]): string {
  const [, index, rest] = /^steps\.(\d+)\.(.+)$/.exec(field) ?? [];
  const step: unknown = steps[Number(index)];
  if (rest === undefined || rest === "name" || typeof step !== "object" || step === null || !("name" in step)) return field;
  return typeof step.name === "string" ? `step '${step.name.slice(0, 80)}': ${rest}` : field;
}

/** Names the step in errors about it. Errors that are not the caller's mistakes stay as they are. */
export async function aboutStep<Result>(step: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error.status >= 500 || error.status === 429) throw error;
    const details =
      typeof error.details === "object" && error.details !== null && !Array.isArray(error.details) ? error.details : undefined;
    throw new HeadwaterError(error.status, error.code, `step '${step}': ${error.message}`, {
      cause: error,
      details: { step, ...details, ...(Array.isArray(error.details) ? { problems: error.details as unknown } : {}) },
    });
  }
}

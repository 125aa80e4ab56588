import { z } from "zod";
import { configurableProps } from "../components/schemas.ts";
import { overlaps } from "../../domain/schedule/timer-options.ts";
import { workflowStates } from "../../domain/workflow/workflow-health.ts";
import { ownerId, problem, successRate, times } from "../resources/schemas.ts";

export const triggerTypes = ["source", "http", "timer", "email"] as const;

export const triggerSchema = z
  .object({
    id: z.string().describe("The source's id, or a derived one that stays the same: `hi_…`, `ti_…` or `ei_…`."),
    type: z.enum(triggerTypes),
    source_id: z.string().nullable().optional().describe("Of a source. Null until a source that is referred to by name exists."),
    endpoint_url: z.string().nullable().optional().describe("Of `http`. Null until the workflow is deployed."),
    address: z.string().nullable().optional().describe("Of `email`. Null until the workflow is deployed."),
    custom_response: z.boolean().optional().describe("Of `http`, if it is set."),
    cron: z.string().optional().describe("Of `timer`."),
    interval_seconds: z.int().optional().describe("Of `timer`."),
    timezone: z.string().optional().describe("Of `timer` with `cron`."),
    jitter_seconds: z.int().optional().describe("Of `timer`, if it is set."),
    overlap: z.enum(overlaps).optional().describe("Of `timer`, if it is set."),
    catch_up: z.int().optional().describe("Of `timer`, if it is set."),
  })
  .meta({ id: "WorkflowTrigger" });

const nested = z.array(z.record(z.string(), z.unknown())).optional();
const control = {
  if: z.string().optional(),
  then: nested,
  else_if: z.array(z.object({ if: z.string(), then: nested })).optional(),
  else: nested,
  switch: z.string().optional(),
  cases: z.array(z.object({ equals: z.unknown().optional(), when: z.string().optional(), steps: nested })).optional(),
  default: nested,
  for_each: z.string().optional(),
  as: z.string().optional(),
  max_items: z.int().optional(),
  on_error: z.enum(["stop", "continue"]).optional(),
  concurrency: z.int().optional(),
  parallel: z.array(z.array(z.record(z.string(), z.unknown()))).optional(),
  while: z.string().optional(),
  max_iterations: z.int().optional(),
  steps: nested.describe("Of `for_each` and `while`: steps in this form, as in the other lists."),
  try: nested,
  catch: nested,
  finally: nested,
  stop: z.string().optional(),
  workflow: z.string().optional().describe("Id of the workflow that it runs."),
  event: z.unknown().optional(),
  wait: z.boolean().optional(),
};

export const stepSchema = z
  .object({
    id: z.string().describe("`c_…`: errors name it as `cellId`."),
    name: z.string(),
    component_id: z.string().nullable(),
    component_key: z.string().optional().describe("If the component has a key."),
    props: z.record(z.string(), z.unknown()).describe("Values by prop, without secret ones."),
    configurable_props: configurableProps,
    continue_on_error: z.boolean(),
    retries: z.int(),
    timeout_ms: z.number().nullable().describe("Null: the run timeout of the installation."),
    ...control,
  })
  .meta({ id: "WorkflowStep" });

const settingsSchema = z
  .object({
    concurrency: z.int().nullable().describe("Maximum runs at once; null: no limit."),
    throttle: z.object({ runs: z.int(), interval_seconds: z.int() }).nullable().describe("Maximum runs that start within the interval."),
    queue_size: z.int().nullable().describe("Maximum runs that wait; null: the limit of the installation."),
    ordered: z.boolean().describe("Runs are executed one at a time, in the order of their events."),
    error_mails: z.boolean().describe("Whether its errors are mailed to the owner."),
  })
  .meta({ id: "WorkflowSettings" });

export const workflowSchema = z
  .object({
    id: z.string().describe("`p_…`."),
    owner_id: ownerId,
    name: z.string(),
    active: z.boolean(),
    deployment_id: z.string().nullable().describe("Version, `d_…`: each change that is deployed has another. Null until the first one."),
    ...times,
    triggers: z.array(triggerSchema),
    steps: z.array(stepSchema),
    settings: settingsSchema,
    state: z.enum(workflowStates).describe("State of the workflow; `paused` if its running version is switched off."),
    problem,
    success_rate: successRate.describe(
      "Share of the runs of its version that succeeded, of the last 100 that ended within an hour; null without any.",
    ),
  })
  .meta({ id: "Workflow" });

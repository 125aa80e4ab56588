import { z } from "zod";
import type { PropDefinition } from "../domain/component/definition.ts";
import { catchUpBounds, jitterBounds, overlaps } from "../domain/schedule/timer-options.ts";
import { stepNamePattern, triggerStep } from "../domain/workflow/step-id.ts";
import { codeLimits } from "../domain/component/component-code.ts";
import { controlLimits } from "../domain/workflow/control.ts";
import { controlFields, type StepControl } from "../domain/workflow/step-control.ts";
import { entryPath, moduleFiles } from "./component.ts";
import { props, secrets } from "./props.ts";
import { workflowStates } from "../domain/workflow/workflow-health.ts";
import { baseStatus, columnsOf, defineKind, resourceName, statusProblem, type Resource } from "./resource.ts";
import { componentAddress, exactlyOneOf, matching, structural, withRules } from "./rules.ts";

const timer = z
  .object({
    cron: z.string().max(255).optional().describe("Five fields: minute hour day-of-month month day-of-week, such as `*/5 * * * *`."),
    intervalSeconds: z.int().min(1).max(31_622_400).optional().describe("Seconds between ticks, 1 to 31,622,400 (366 days)."),
    timezone: z.string().max(64).optional().describe("For cron: IANA name, such as Europe/Berlin. Default: UTC."),
    jitterSeconds: z
      .int()
      .min(jitterBounds.minimum)
      .max(jitterBounds.maximum)
      .optional()
      .describe(
        "A tick is due up to so many seconds later, always the same for one tick. Less than the time between two ticks. Default: none.",
      ),
    overlap: z
      .enum(overlaps)
      .optional()
      .describe(
        "What a tick does while the last run of this timer has not ended: start another one (`allow`, the default), none (`skip`), one when it has ended (`queue`), or cancel it first (`cancel`).",
      ),
    catchUp: z
      .int()
      .min(catchUpBounds.minimum)
      .max(catchUpBounds.maximum)
      .optional()
      .describe(
        "How many of the last ticks run that were missed while the workflow was inactive or Headwater was down. Default: none of an inactive workflow.",
      ),
  })
  .describe("Starts a run at times: either `cron` or `intervalSeconds`.");

const trigger = withRules(
  z.object({
    source: z.string().max(60).optional().describe("Public id `dc_…` of a Source: each of its events starts a run."),
    sourceRef: z
      .object({ name: resourceName.describe("Name of the Source.") })
      .optional()
      .describe("The same, by name in this namespace."),
    http: z
      .object({
        customResponse: z
          .boolean()
          .optional()
          .describe("True: the caller waits for `$.respond`. Default: true if a step's code calls `$.respond`, otherwise 200 at once."),
      })
      .optional()
      .describe("Each request to the workflow's endpoint starts a run."),
    timer: timer.optional(),
    email: z.object({}).optional().describe("Each email to the workflow's address, `status.email`, starts a run."),
  }),
  exactlyOneOf(["source", "sourceRef", "http", "timer", "email"], "it says what starts a run"),
).describe("One thing that starts runs.");

const stepName = matching(
  stepNamePattern,
  63,
  "a step's name begins with a letter, `_` or `$`, and has only letters, digits, `_` and `$`: expressions read it as steps.<name>",
);

/** Steps of one list. */
const maxNested = 100;
/** Characters. */
const maxExpression = 16 * 1024;
const anyValue = structural(z.json(), { "x-kubernetes-preserve-unknown-fields": true, nullable: true });

/** Steps within a step. A structural schema cannot describe itself, so the API server takes any objects; the operator checks them. */
const nested = structural(
  z.lazy((): z.ZodType<readonly WorkflowStep[]> => z.array(step).max(maxNested)),
  { type: "array", maxItems: maxNested, items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
);
const expression = z.string().min(1).max(maxExpression);

/** Control flow, see domain/workflow/control.ts. */
const control = {
  if: expression.optional().describe("Runs `then` if the expression is true, such as `{{ steps.order.total > 100 }}`."),
  then: nested.optional().describe("Of `if`: steps, in order."),
  elseIf: z
    .array(z.object({ if: expression.describe("The next condition."), then: nested.describe("Steps, in order.") }))
    .max(20)
    .optional()
    .describe("Of `if`: further conditions, in order, if those before are false."),
  else: nested.optional().describe("Of `if`: steps if no condition is true."),
  switch: expression.optional().describe("Runs the first of `cases` that fits the value of the expression."),
  cases: z
    .array(
      z.object({
        equals: anyValue.optional().describe("The value, or an expression that gives it."),
        when: expression.optional().describe("Instead of `equals`: an expression that is true if the case fits."),
        steps: nested.describe("Steps, in order."),
      }),
    )
    .max(50)
    .optional()
    .describe("Of `switch`."),
  default: nested.optional().describe("Of `switch`: steps if no case fits."),
  forEach: expression.optional().describe("Runs `steps` for each item of the list that the expression gives, in order."),
  concurrency: z
    .int()
    .min(1)
    .max(controlLimits.sideBySide)
    .optional()
    .describe("Of `forEach`: how many items are under way at a time. Results stay in the order of the items. Default: 1."),
  as: z.string().max(63).optional().describe("Of `forEach`: the steps read `steps.<as>.item` and `steps.<as>.index`. Default: `item`."),
  maxItems: z.int().min(1).max(controlLimits.items).optional().describe("Of `forEach`: a longer list is an error. Default: 1,000."),
  onError: z
    .enum(["stop", "continue"])
    .optional()
    .describe("Of `forEach`: whether an item that fails ends the loop with its error (`stop`, the default), or is a result with `$error`."),
  parallel: z.array(nested).max(50).optional().describe("Lists of steps that run side by side; the run goes on when all have ended."),
  while: expression.optional().describe("Runs `steps` as long as the expression is true."),
  maxIterations: z.int().min(1).max(controlLimits.iterations).optional().describe("Of `while`: more rounds are an error. Default: 1,000."),
  steps: nested.optional().describe("Of `forEach` and `while`: steps, in order."),
  try: nested.optional().describe("Steps whose failure is handled by `catch` or `finally`."),
  catch: nested.optional().describe("Of `try`: steps after a failure, which read it as `steps.<name>.$error`."),
  finally: nested.optional().describe("Of `try`: steps that run in any case, at last."),
  workflow: z
    .string()
    .min(1)
    .max(63)
    .optional()
    .describe(
      "Runs another workflow of the owner: its id, `p_…`, or its name in this namespace. The step returns what its last step returned.",
    ),
  event: anyValue.optional().describe("Of `workflow`: the event of its run, with expressions. Default: `{}`."),
  wait: z.boolean().optional().describe("Of `workflow`: if false, the run goes on at once, and the step returns nothing. Default: true."),
  stop: z.string().max(maxExpression).optional().describe("Ends the run as `exited`, with this reason, which may contain expressions."),
};

const actionFields = ["componentRef", "componentKey", "url", "code"] as const;

const action = z.object({
  name: stepName.describe("Name by which expressions and later steps read its exports: `steps.<name>`. Unique within the workflow."),
  componentRef: z
    .object({ name: resourceName.describe("Name of the Component.") })
    .optional()
    .describe("The action, a Component of the namespace."),
  componentKey: z.string().min(1).max(255).optional().describe("The action, by the key of a component of the registry."),
  url: componentAddress
    .optional()
    .describe(
      "URL of the action's module, or an address of npm such as `npm:<package>@<version>#action/<name>`. It is fetched once per generation of the workflow.",
    ),
  // Its bytes are counted when the component is made of it: a rule for each of 100 steps would cost the API server too much.
  code: z
    .string()
    .min(1)
    .max(codeLimits.bytes)
    .optional()
    .describe("The action's source text: a module whose default export has `run({steps, $})`."),
  entry: entryPath.optional(),
  files: moduleFiles.optional(),
  readsVariables: z
    .boolean()
    .optional()
    .describe(
      "Of `componentRef`: if true, its code reads the owner's variables as `process.env.NAME`. Code of the step always does, other components never.",
    ),
  props,
  secrets,
  continueOnError: z
    .boolean()
    .default(false)
    .describe("If true, a failure is exported as `$error`, and the run continues with the next step."),
  retries: z.int().min(0).max(10).default(0).describe("Number of attempts after the first one has failed, with growing delays."),
  timeoutSeconds: z
    .number()
    .min(0.001)
    .max(3_600)
    .optional()
    .describe("Time of one attempt, in seconds. Default: the run timeout of the installation."),
});
export interface WorkflowStep extends z.infer<typeof action>, StepControl<WorkflowStep> {}

const step: z.ZodType<WorkflowStep> = withRules(
  action.extend(control),
  exactlyOneOf([...actionFields, ...controlFields], "they say what the step does"),
).describe("One step: an action with its props, or one that says which steps within it run.") as unknown as z.ZodType<WorkflowStep>; // Defaults make input and output differ.

const settings = z
  .object({
    concurrency: z.int().min(1).max(1_000).optional().describe("Maximum runs at once; suspended ones do not count. Default: no limit."),
    throttle: z
      .object({
        runs: z.int().min(1).max(1_000_000).describe("Maximum runs that start within the interval."),
        intervalSeconds: z.int().min(1).max(86_400).describe("Length of the interval."),
      })
      .optional()
      .describe("Limits how many runs start within a time. Default: no limit."),
    queueSize: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe("Maximum runs that wait: beyond it, requests are answered 429, and deliveries wait. Default: the installation's limit."),
    ordered: z.boolean().default(false).describe("If true, runs are executed one at a time, in the order in which their events arrived."),
    errorMails: z.boolean().default(true).describe("If false, the owner gets no mail about its errors."),
  })
  .default({ ordered: false, errorMails: true })
  .describe("How many runs are executed at once, and whether errors are mailed.");

const spec = withRules(
  z.object({
    name: z.string().min(1).max(255).optional().describe("Display name. Default: the resource's name."),
    active: z.boolean().default(true).describe("If false, it does not run: its endpoint answers 404, and events delivered to it wait."),
    triggers: z.array(trigger).max(20).default([]).describe("What starts a run, besides the Subscriptions that name the workflow."),
    steps: z.array(step).max(100).default([]).describe("Steps, in order."),
    settings,
  }),
  {
    cel: "self.steps.all(step, self.steps.filter(other, other.name == step.name).size() == 1)",
    holds: ({ steps }) => new Set(steps.map(({ name }) => name)).size === steps.length,
    message: "two steps have the same name: expressions could not distinguish them",
    field: "steps",
  },
  {
    cel: `self.steps.all(step, step.name != '${triggerStep}')`,
    holds: ({ steps }) => steps.every(({ name }) => name !== triggerStep),
    message: `no step may be named '${triggerStep}': steps.${triggerStep} is the event that started the run`,
    field: "steps",
  },
);
export type WorkflowSpec = z.infer<typeof spec>;
/** The spec of a workflow that sets nothing. */
export const emptyWorkflow: WorkflowSpec = spec.parse({});

const stepStatus = z.object({
  name: z.string().describe("Name of the step."),
  id: z.string().describe("Id of the step, `c_…`: errors name it as `cellId`."),
  component: z.string().optional().describe("Name of its Component."),
  componentId: z.string().optional().describe("Public id of that component, `sc_…`."),
  configurableProps: structural(
    z.custom<readonly PropDefinition[]>((value) => Array.isArray(value)),
    { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  )
    .optional()
    .describe("All props of the action if its code adds some, as it last returned them; otherwise absent."),
  configurableFor: z.string().optional().describe("Digest of the component and the values for which `configurableProps` was computed."),
});

const status = baseStatus.extend({
  state: z
    .enum(workflowStates)
    .optional()
    .describe("State of the workflow: deployments show at once, failed runs within a minute. docs/api.md describes each state."),
  problem: statusProblem.optional().describe("Current problem; absent if there is none."),
  successRate: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Share of runs that succeeded, of the last 100 within an hour, when the state was written."),
  deployment: z.string().optional().describe("Id `d_…` of the current version; each deployed change has another."),
  active: z.boolean().optional().describe("Whether that version runs; false while it is switched off."),
  pool: z.string().optional().describe("Name of the RunnerPool that runs it."),
  endpoint: z.string().optional().describe("URL of its endpoint."),
  endpointKey: z.string().optional().describe("The part of the endpoint's URL that identifies it."),
  email: z.string().optional().describe("Its address for emails, if it has an email trigger."),
  emailKey: z.string().optional().describe("The part of that address before the `@`."),
  steps: z.array(stepStatus).optional().describe("The steps of the current version."),
  updatedAt: z.int().optional().describe("When the last change of the spec was deployed, epoch milliseconds."),
});
export type WorkflowStatus = z.infer<typeof status>;
export type WorkflowResource = Resource<WorkflowSpec, WorkflowStatus>;

export const workflowKind = defineKind<WorkflowSpec, WorkflowStatus>({
  kind: "Workflow",
  plural: "workflows",
  shortNames: ["hwflow"],
  description:
    "Steps that run one after the other for each event. Each step is an action, and is committed before the next one runs. Its namespace must belong to an owner (label headwater.dev/owner).",
  columns: columnsOf(
    { name: "State", type: "string", path: ".status.state", description: "State of the workflow." },
    { name: "Problem", type: "string", path: ".status.problem.code", description: "Code of the current problem.", wide: true },
    { name: "Active", type: "boolean", path: ".spec.active", description: "Whether the workflow may run.", wide: true },
    { name: "Endpoint", type: "string", path: ".status.endpoint", description: "URL of its endpoint.", wide: true },
  ),
  selectable: [".spec.active", ".status.id"],
  spec: spec as unknown as z.ZodType<WorkflowSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});

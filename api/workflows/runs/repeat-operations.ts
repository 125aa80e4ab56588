import { z } from "zod";
import { stepsOf } from "../../../crds/workflow-steps.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { Conflict, HeadwaterError, InvalidInput } from "../../../domain/errors.ts";
import { withParsedBody } from "../../../domain/invocation/http-body.ts";
import { parseJsonOrNull } from "../../../domain/json.ts";
import { maxLimit } from "../../../domain/page.ts";
import type { RecordedAttempt, WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { RunRepetition } from "../../../domain/workflow/run-control.ts";
import { hasEnded, runStatuses } from "../../../domain/workflow/run-state.ts";
import { operation, type ApiContext } from "../../context.ts";
import { dropBody, type Call, type Input } from "../../http/request/call.ts";
import { text } from "../../http/request/parameters.ts";
import { accepted, ok } from "../../http/response/replies.ts";
import { inProgress, one } from "../../http/response/schemas.ts";
import { workflowOf } from "../find-workflow.ts";
import { publicIdOf } from "../../resources/identity.ts";
import { runOf } from "./find-run.ts";
import { endedRun, startRun, startedSchema, type StartedRun } from "./run-now-operations.ts";
import { workflowRunResponse } from "./response.ts";
import { workflowRunSchema } from "./schemas.ts";

/** Of exports and event together: they are part of one message. */
const maxRepeatedCharacters = 1_048_576;

const versions = ["current", "same"] as const;

const how = z.object({
  from: text
    .nullish()
    .describe(
      "Name or id of the step that runs first; of one within another step, the outermost runs. Default: the step that failed the run, or else the first one.",
    ),
  version: z.enum(versions).nullish().describe("`current` (default), or `same`: the version of the run."),
});
const withEvent = how.extend({ event: z.unknown().optional().describe("In place of the event of the run: begins with the first step.") });

const times = z.int().nonnegative().nullish();
const selection = how.omit({ from: true }).extend({
  status: z.enum(runStatuses.filter(hasEnded)).nullish().describe("Default: `failed`."),
  from: z.enum(["failed_step", "first_step"]).nullish().describe("Default: `failed_step`."),
  since_ms: times.describe("Only runs that started at this time or later, epoch ms."),
  until_ms: times.describe("Only runs that started before this time, epoch ms."),
  dry_run: z.boolean().nullish().describe("True: says which runs it would repeat."),
});

const repeatedSchema = z
  .object({
    repeated: z.array(z.object({ run_id: z.string().describe("The run."), id: z.string().nullable().describe("The new one.") })),
    refused: z.array(z.object({ run_id: z.string(), code: z.string(), error: z.string() })),
  })
  .meta({ id: "RepeatedRuns" });

/** New runs with the event of earlier ones. */
export const repeatOperations = [
  operation({
    route: "POST /workflows/:workflow_id/runs/:run_id/repeat",
    id: "repeatWorkflowRun",
    change: { action: "repeat_run", kind: "Workflow" },
    summary: "Repeat a run of a workflow, from the step that failed or another one",
    description:
      "Starts a new run. Steps before the first one do not run: what they exported in the repeated run is read from the history.",
    body: withEvent,
    takesEvent: true,
    responses: { ...one(workflowRunSchema), ...inProgress(startedSchema) },
    errors: [409],
    handle: async (call, context) => {
      const started = await startRepetition(call, context);
      dropBody(call);
      const ended = await endedRun(started, context);
      return ended === undefined
        ? accepted({ id: started.run, workflow_id: started.workflow, status: "running", trigger: "manual" })
        : ok(workflowRunResponse(ended));
    },
  }),
  operation({
    route: "POST /workflows/:workflow_id/runs/repeat",
    id: "repeatWorkflowRuns",
    change: { action: "repeat_runs", kind: "Workflow" },
    summary: "Repeat all stored runs of a workflow that failed",
    description:
      "At most the last hundred, oldest first. They wait for their turn by the workflow's settings; when its backlog is full, the rest is refused.",
    body: selection,
    responses: one(repeatedSchema),
    errors: [409],
    handle: (call, context) => repeatAll(call, call.body(), context),
  }),
];

/** Stores the invocation. Only this function holds the event, see `dropBody`. */
async function startRepetition(call: Call & Input<unknown, z.output<typeof withEvent>>, context: ApiContext): Promise<StartedRun> {
  const resource = await workflowOf(call, context);
  const run = await runOf(call, publicIdOf(resource), context);
  return startRun(resource, { ...repetitionOf(run, resource, call.body()), trace: call.trace }, context);
}

async function repeatAll(call: Call, selected: z.output<typeof selection>, context: ApiContext) {
  const { status, since_ms: since, until_ms: until, dry_run: isDry, from, version } = selected;
  const resource = await workflowOf(call, context);
  const workflow = publicIdOf(resource);
  const { items } = await context.ports.history.pageWorkflowRuns(workflow, { limit: maxLimit, cursor: null, status: status ?? "failed" });
  const runs = items.filter(({ startedAt }) => startedAt >= (since ?? 0) && startedAt < (until ?? Number.POSITIVE_INFINITY)).toReversed();
  const repeated: { run_id: string; id: string | null }[] = [];
  const refused: { run_id: string; code: string; error: string }[] = [];
  // One after the other: those of one workflow keep their order.
  for (const { id } of runs) {
    try {
      const run = await context.ports.history.findWorkflowRun(workflow, id);
      if (run === undefined) continue; // Deleted in the meantime.
      const request = repetitionOf(run, resource, { version, from: from === "first_step" ? firstStepOf(resource) : undefined });
      const started = isDry === true ? undefined : await startRun(resource, { ...request, trace: call.trace }, context);
      started?.ended.catch(() => undefined); // Its outcome is in the history.
      repeated.push({ run_id: id, id: started?.run ?? null });
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      refused.push({ run_id: id, code: error.code, error: error.message });
    }
  }
  return ok({ repeated, refused });
}

interface Repetition {
  readonly event: unknown;
  readonly repeats: RunRepetition;
}

const firstStepOf = (resource: WorkflowResource): string | undefined => stepsOf(resource.spec)[0]?.node.name;

/** @throws InvalidInput, Conflict */
function repetitionOf(
  run: WorkflowRunDetails,
  resource: WorkflowResource,
  {
    from,
    version,
    event,
  }: { readonly from?: string | null | undefined; readonly version?: string | null | undefined; readonly event?: unknown },
): Repetition {
  if (!hasEnded(run.status))
    throw new Conflict(`run ${run.id} is ${run.status}: a run can be repeated once it has ended`, { code: "run_not_ended" });
  const isSame = version === "same" && run.deployment !== resource.status.deployment;
  const steps = isSame ? recordedSteps(run) : currentSteps(resource);
  const wanted = from ?? (event === undefined ? failedStepOf(run) : undefined);
  const first = wanted === undefined ? undefined : steps.findIndex(({ id, name }) => id === wanted || name === wanted);
  if (first !== undefined && first < 0) throw unknownStep(wanted ?? "", steps, isSame);
  const exports = exportsOf(run, steps.slice(0, first ?? 0));
  const given = event === undefined ? eventOf(run) : event;
  if (JSON.stringify([exports, given]).length > maxRepeatedCharacters)
    throw new Conflict(`the event and the exports of run ${run.id} before this step have more than 1 MiB: repeat it from an earlier step`, {
      code: "run_not_repeatable",
    });
  const name = first === undefined ? undefined : steps[first]?.name;
  return {
    event: given,
    repeats: {
      run: run.id,
      steps: exports,
      ...(name === undefined ? {} : { from: name }),
      ...(isSame ? { deployment: run.deployment } : {}),
    },
  };
}

/** Its name: a step that was changed may have another id. */
const failedStepOf = ({ failedStep, attempts }: WorkflowRunDetails): string | undefined =>
  failedStep === null ? undefined : (attempts.findLast(({ id }) => id === failedStep)?.name ?? failedStep);

interface NamedStep {
  readonly id: string;
  readonly name: string;
}

function currentSteps({ spec, status }: WorkflowResource): readonly NamedStep[] {
  const ids = new Map((status.steps ?? []).map(({ name, id }) => [name, id]));
  return stepsOf(spec).map(({ node: { name } }) => ({ name, id: ids.get(name) ?? "" }));
}

/** Of an earlier version, the API knows the steps that have run. */
function recordedSteps({ attempts }: WorkflowRunDetails): readonly NamedStep[] {
  const byIndex = new Map(attempts.map(({ index, id, name }) => [index, { id, name }]));
  return [...byIndex].toSorted(([one], [other]) => one - other).map(([, step]) => step);
}

/** JSON texts, by name. @throws Conflict if some are too large to be stored */
function exportsOf({ id, attempts }: WorkflowRunDetails, steps: readonly NamedStep[]): Readonly<Record<string, string>> {
  const names = new Set(steps.map(({ name }) => name));
  const done = attempts.filter(({ name, outcome }) => names.has(name) && hasExports(outcome));
  for (const { name, exports } of done)
    if (exports.startsWith('{"$truncated":'))
      throw new Conflict(
        `the exports of step '${name}' of run ${id} are too large to be stored: repeat the run from this step, or an earlier one`,
        {
          code: "run_not_repeatable",
        },
      );
  return Object.fromEntries(done.map(({ name, exports }) => [name, exports]));
}

const hasExports = (outcome: RecordedAttempt["outcome"]): boolean =>
  outcome === "succeeded" || outcome === "suspended" || outcome === "continued";

function eventOf({ id, event }: WorkflowRunDetails): unknown {
  if (event === null)
    throw new Conflict(`the event of run ${id} is too large to be stored: give \`event\``, { code: "run_not_repeatable" });
  return withParsedBody(parseJsonOrNull(event));
}

function unknownStep(wanted: string, steps: readonly NamedStep[], isSame: boolean): InvalidInput {
  const known = steps.map(({ name }) => name).join(", ");
  const where = isSame ? "the steps that have run are" : "the current version has";
  return new InvalidInput(`from names no step: '${wanted.slice(0, 80)}'; ${where} ${known}`);
}

import { z } from "zod";
import { stepsOf } from "../../../crds/workflow-steps.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { Conflict, HeadwaterError, InvalidInput, QuotaUsedUp } from "../../../domain/errors.ts";
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
const maxRepeatedBytes = 4 * 2 ** 20;
/** How often a run that repeats a run that repeats another one is followed to what was exported first. */
const maxGenerations = 20;

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
      "At most the last hundred, oldest first. They wait for their turn by the workflow's settings; when its backlog is full, the rest is left out.",
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
  return startRun(resource, { ...(await repetitionOf(run, resource, call.body(), context)), trace: call.trace }, context);
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
      const first = from === "first_step" ? firstStepOf(resource) : undefined;
      const request = await repetitionOf(run, resource, { version, from: first }, context);
      const started = isDry === true ? undefined : await startRun(resource, { ...request, trace: call.trace }, context);
      started?.ended.catch(() => undefined); // Its outcome is in the history.
      repeated.push({ run_id: id, id: started?.run ?? null });
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      refused.push({ run_id: id, code: error.code, error: error.message });
      if (error instanceof QuotaUsedUp) break; // Later ones would run before this one.
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
async function repetitionOf(
  run: WorkflowRunDetails,
  resource: WorkflowResource,
  {
    from,
    version,
    event,
  }: { readonly from?: string | null | undefined; readonly version?: string | null | undefined; readonly event?: unknown },
  context: ApiContext,
): Promise<Repetition> {
  if (!hasEnded(run.status))
    throw new Conflict(`run ${run.id} is ${run.status}: a run can be repeated once it has ended`, { code: "run_not_ended" });
  const isOld = version === "same" && run.deployment !== resource.status.deployment;
  const current = currentSteps(resource);
  const steps = isOld ? recordedSteps(run, current) : current;
  const wanted = from ?? (event === undefined ? failedStepOf(run) : undefined);
  const first = wanted === undefined ? 0 : steps.findIndex(({ id, name }) => id === wanted || name === wanted);
  if (first < 0) throw unknownStep(wanted ?? "", steps, isOld);
  const exports = await exportsOf(run, steps, first, context);
  const given = event === undefined ? eventOf(run) : event;
  if (Buffer.byteLength(JSON.stringify([exports, given])) > maxRepeatedBytes)
    throw notRepeatable(
      `the event of run ${run.id} and the exports before this step have more than 4 MiB: give another event, or begin earlier`,
    );
  const name = wanted === undefined ? undefined : steps[first]?.name;
  return {
    event: given,
    repeats: {
      run: run.id,
      steps: exports,
      ...(name === undefined ? {} : { from: name }),
      ...(version === "same" ? { deployment: run.deployment } : {}),
    },
  };
}

const notRepeatable = (message: string): Conflict => new Conflict(message, { code: "run_not_repeatable" });

/** Its name: a step that was changed may have another id. */
const failedStepOf = ({ failedStep, attempts }: WorkflowRunDetails): string | undefined =>
  failedStep === null ? undefined : (attempts.findLast(({ id }) => id === failedStep)?.name ?? failedStep);

interface NamedStep {
  readonly id: string;
  readonly name: string;
  /** It gets `$results` or `$error` when its part has ended, which no attempt in the history has. */
  readonly collects: boolean;
}

function currentSteps({ spec, status }: WorkflowResource): readonly NamedStep[] {
  const ids = new Map((status.steps ?? []).map(({ name, id }) => [name, id]));
  return stepsOf(spec).map(({ node: { name }, control }) => ({
    name,
    id: ids.get(name) ?? "",
    collects: control?.kind === "each" || control?.kind === "try",
  }));
}

/** Of an earlier version, the API knows the steps that have run. */
function recordedSteps({ attempts }: WorkflowRunDetails, current: readonly NamedStep[]): readonly NamedStep[] {
  const collecting = new Set(current.filter(({ collects }) => collects).map(({ name }) => name));
  const byIndex = new Map(attempts.map(({ index, id, name }) => [index, { id, name, collects: collecting.has(name) }]));
  return [...byIndex].toSorted(([one], [other]) => one - other).map(([, step]) => step);
}

type Exports = Readonly<Record<string, string>>;

/**
 * JSON texts of what the steps before an index have exported, by name. A run that repeats another one has not run those before its first:
 * they are that other one's. @throws Conflict if something is not stored
 */
async function exportsOf(
  run: WorkflowRunDetails,
  steps: readonly NamedStep[],
  end: number,
  context: ApiContext,
  generation = 1,
): Promise<Exports> {
  const begun = run.repeats === null ? 0 : steps.findIndex(({ name }) => name === run.attempts[0]?.name);
  const own = ownExports(run, steps.slice(Math.max(begun, 0), end));
  const inherited = Math.min(begun, end);
  if (inherited <= 0 || run.repeats === null) return own;
  const earlier = generation < maxGenerations ? await context.ports.history.findWorkflowRun(run.workflow, run.repeats) : undefined;
  if (earlier === undefined)
    throw notRepeatable(`run ${run.repeats}, which run ${run.id} repeats, is no longer stored: repeat the run from its first step`);
  return { ...(await exportsOf(earlier, steps, inherited, context, generation + 1)), ...own };
}

function ownExports({ id, attempts }: WorkflowRunDetails, steps: readonly NamedStep[]): Exports {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const done = attempts.filter(({ name, outcome }) => byName.has(name) && hasExports(outcome));
  for (const { name, exports } of done) {
    if (exports.startsWith('{"$truncated":'))
      throw notRepeatable(
        `the exports of step '${name}' of run ${id} are too large to be stored: repeat the run from this step, or an earlier one`,
      );
    if (byName.get(name)?.collects === true)
      throw notRepeatable(`what step '${name}' of run ${id} has collected is not stored: repeat the run from this step, or an earlier one`);
  }
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

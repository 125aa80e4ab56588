import { stepsOf } from "../../../crds/workflow-steps.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { Conflict, InvalidInput } from "../../../domain/errors.ts";
import { withParsedBody } from "../../../domain/invocation/http-body.ts";
import { parseJsonOrNull } from "../../../domain/json.ts";
import type { RecordedAttempt, WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { RunRepetition } from "../../../domain/workflow/run-control.ts";
import { hasEnded } from "../../../domain/workflow/run-state.ts";
import type { ApiContext } from "../../context.ts";
import { formerFiles, notRepeatable, type RanSteps } from "./former-files.ts";

/** Of exports and event together: they are part of one message. */
const maxBytes = 4 * 2 ** 20;
/** How often a run that repeats a run that repeats another one is followed to what was exported first. */
const maxGenerations = 20;

/** What a new run needs to repeat another one. */
export interface Repetition {
  readonly event: unknown;
  readonly repeats: RunRepetition;
}

/** How to repeat a run. */
export interface Wanted {
  /** Name or id of the first step; absent: that which failed, or the first of all if there is another event or none failed. */
  readonly from?: string | null | undefined;
  readonly version?: "current" | "same" | null | undefined;
  /** Absent: that of the run. */
  readonly event?: unknown;
  /** It begins without the files that the run had at this step. */
  readonly withoutFiles?: boolean | null | undefined;
}

/** @throws InvalidInput if there is no such step, Conflict if the run has not ended or something that it needs is not stored */
export async function repetitionOf(
  run: WorkflowRunDetails,
  resource: WorkflowResource,
  { from, version, event, withoutFiles }: Wanted,
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
  const generations = await generationsOf(run, steps, first, context);
  const exports = exportsOf(generations);
  const given = event === undefined ? eventOf(run) : event;
  if (Buffer.byteLength(JSON.stringify([exports, given])) > maxBytes)
    throw notRepeatable(
      `the event of run ${run.id} and the exports before this step have more than 4 MiB: give another event, or begin earlier`,
    );
  const name = wanted === undefined ? undefined : steps[first]?.name;
  const files =
    withoutFiles === true
      ? undefined
      : formerFiles(generations, steps.slice(0, outermostOf(steps, first, resource)), context.ports.clock.now());
  return {
    event: given,
    repeats: {
      run: run.id,
      steps: exports,
      ...(name === undefined ? {} : { from: name }),
      ...(version === "same" ? { deployment: run.deployment } : {}),
      ...(files === undefined ? {} : { files }),
    },
  };
}

/** Index of the step with which the run begins: a part of one has no meaning without it. Of an earlier version, what the current one says. */
function outermostOf(steps: readonly NamedStep[], first: number, { spec }: WorkflowResource): number {
  const current = stepsOf(spec);
  const index = current.findIndex(({ node }) => node.name === steps[first]?.name);
  const around = current.find(({ control }, at) => at < index && control !== undefined && index < control.end);
  const outermost = steps.findIndex(({ name }) => name === around?.node.name);
  return outermost < 0 ? first : Math.min(outermost, first);
}

export const firstStepOf = ({ spec }: WorkflowResource): string | undefined => stepsOf(spec)[0]?.node.name;

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
    collects: control?.kind === "each" || control?.kind === "parallel" || control?.kind === "try",
  }));
}

/** Of an earlier version, the API knows the steps that have run. */
function recordedSteps({ attempts }: WorkflowRunDetails, current: readonly NamedStep[]): readonly NamedStep[] {
  const collecting = new Set(current.filter(({ collects }) => collects).map(({ name }) => name));
  const byIndex = new Map(attempts.map(({ index, id, name }) => [index, { id, name, collects: collecting.has(name) }]));
  return [...byIndex].toSorted(([one], [other]) => one - other).map(([, step]) => step);
}

type Exports = Readonly<Record<string, string>>;

/** A run with the steps that it has run, of those before the first one. */
interface Generation extends RanSteps {
  readonly steps: readonly NamedStep[];
}

/**
 * The runs that have run the steps before an index, the last one first. A run that repeats another one has not run those before its first:
 * that other one has. @throws Conflict if one is not stored
 */
async function generationsOf(
  run: WorkflowRunDetails,
  steps: readonly NamedStep[],
  end: number,
  context: ApiContext,
  generation = 1,
): Promise<readonly Generation[]> {
  if (end === 0) return [];
  const began = beganAt(run, steps);
  const own = { run, began, steps: steps.slice(began, end) };
  if (began === 0 || run.repeats === null) return [own];
  const earlier = generation < maxGenerations ? await context.ports.history.findWorkflowRun(run.workflow, run.repeats) : undefined;
  if (earlier === undefined)
    throw notRepeatable(`run ${run.repeats}, which run ${run.id} repeats, is no longer stored: repeat the run from its first step`);
  return [own, ...(await generationsOf(earlier, steps, Math.min(began, end), context, generation + 1))];
}

/** JSON texts of what the steps have exported, by name. @throws Conflict if something is not stored */
const exportsOf = (generations: readonly Generation[]): Exports =>
  Object.assign({}, ...generations.map(({ run, steps }) => ownExports(run, steps)).toReversed());

/** Index of the step with which the run began; behind all if it failed before one ran. @throws Conflict if this version has no such step */
function beganAt({ id, repeats, attempts: [first] }: WorkflowRunDetails, steps: readonly NamedStep[]): number {
  if (repeats === null) return 0;
  if (first === undefined) return steps.length;
  const index = steps.findIndex(({ name }) => name === first.name);
  if (index >= 0) return index;
  throw notRepeatable(`run ${id} began with step '${first.name}', which the workflow no longer has: repeat the run from its first step`);
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
  if (event === null) throw notRepeatable(`the event of run ${id} is too large to be stored: give \`event\``);
  return withParsedBody(parseJsonOrNull(event));
}

function unknownStep(wanted: string, steps: readonly NamedStep[], isOld: boolean): InvalidInput {
  const known = steps.map(({ name }) => name).join(", ");
  const where = isOld ? "the steps that have run are" : "the current version has";
  return new InvalidInput(`from names no step: '${wanted.slice(0, 80)}'; ${where} ${known}`);
}

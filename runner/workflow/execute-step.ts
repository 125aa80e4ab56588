import { Unavailable } from "../../domain/errors.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import type { StepDeployment, WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { mapStacks } from "../run/map-stacks.ts";
import { notExecuted, openSecrets } from "../run/execute.ts";
import type { VariablesCache } from "../run/variables.ts";
import { mayReadVariables, stepVariables } from "./step-variables.ts";
import type { RunnerConfig, RunnerPorts } from "../ports.ts";
import type { Execution, OnResponse } from "../sandbox/port.ts";
import type { Places } from "../run/places.ts";
import type { IsolateSlots } from "./isolate-slots.ts";
import type { ResumeUrls } from "./resume-urls.ts";
import type { ResumedRuns } from "./resumed-runs.ts";
import type { LoopLists } from "./loop-lists.ts";
import { keepFiles, type ChangedFiles } from "./run-files.ts";
import { stepRequest } from "./step-request.ts";

/** State that lives as long as the runner. */
export interface WorkflowContext {
  readonly slots: IsolateSlots;
  readonly urls: ResumeUrls;
  readonly resumed: ResumedRuns;
  readonly variables: Pick<VariablesCache, "of">;
  /** For steps that run beside others of their run. */
  readonly places: Places;
}

export interface AttemptedStep {
  readonly workflow: WorkflowDeployment;
  readonly step: StepDeployment;
  readonly run: string;
  readonly state: WorkflowRunState;
  readonly lists: LoopLists;
  /** Which execution within the run it is, the same when it is repeated after a crash: for data stores. */
  readonly occurrence: string;
  readonly attempt: number;
  /** Key of the run's queue. */
  readonly queue: string;
  readonly isTest?: boolean;
  readonly onResponse?: OnResponse | undefined;
  /** Aborts when the step must not begin any more. */
  readonly withdrawn?: AbortSignal | undefined;
}

export interface ExecutedStep {
  readonly execution: Execution;
  readonly startedAt: number;
  /** Values to mask in what people read: secret props, and secret variables that the step could read. */
  readonly secrets: Readonly<Record<string, unknown>>;
  /** Absent: it has changed none, or failed. */
  readonly files?: ChangedFiles;
}

const noSecrets = {};

/** Executes an attempt of a step in the sandbox. @throws Unavailable; the reason of `withdrawn` */
export async function executeStep(
  { workflow, step, run, state, lists, occurrence, attempt, queue, isTest = false, onResponse, withdrawn }: AttemptedStep,
  { slots, urls, variables: owners }: Pick<WorkflowContext, "slots" | "urls" | "variables">,
  config: RunnerConfig,
  ports: Pick<RunnerPorts, "secrets" | "bundles" | "sandbox" | "stacks" | "clock" | "files">,
): Promise<ExecutedStep> {
  const opened = step.secrets === null ? noSecrets : await openSecrets(step.secrets, ports);
  const owned = mayReadVariables(step, opened) ? await owners.of(workflow.owner) : undefined;
  const variables = stepVariables(step, opened, owned);
  if ("error" in variables) return { execution: notExecuted(variables.error), startedAt: ports.clock.now(), secrets: opened };
  const { secrets } = variables;
  const path = await ports.bundles.path(step.bundle);
  const { isolate, free } = await slots.take(workflow.workflow, step.id, queue);
  try {
    withdrawn?.throwIfAborted();
    const startedAt = ports.clock.now();
    const limits = { timeoutMs: step.timeoutMs ?? config.runTimeoutMs, memoryMb: config.memoryMb };
    const sharesFiles = ports.files !== undefined;
    const about = {
      workflow,
      step,
      run,
      state,
      lists,
      occurrence,
      attempt,
      isTest,
      sharesFiles,
      secrets,
      variables,
      path,
      isolate,
      limits,
      now: startedAt,
    };
    const request = await stepRequest(about, urls);
    const executed = await mapStacks(await ports.sandbox.execute(request, onResponse), step.bundle, ports.stacks);
    const filesOf = { owner: workflow.owner, workflow: workflow.workflow, run };
    const kept = await keepFiles(executed, filesOf, state.files ?? [], ports.files);
    return { ...kept, startedAt, secrets: variables.masked.length === 0 ? secrets : { ...secrets, $variables: variables.masked } };
  } finally {
    free();
  }
}

/** The secrets of a step are those of the current version, as long as it has the step: tokens of accounts are refreshed there. */
export function withCurrentSecrets(step: StepDeployment, current: WorkflowDeployment): StepDeployment {
  const same = current.steps.find(({ id }) => id === step.id);
  return same === undefined || same === step ? step : { ...step, secrets: same.secrets };
}

/** The step that runs next. @throws Unavailable */
export function stepAt(workflow: WorkflowDeployment, index: number): StepDeployment {
  const step = workflow.steps[index];
  if (step === undefined) throw new Unavailable(`version ${workflow.id} of workflow ${workflow.workflow} has no step ${index}`);
  return step;
}

/** The execution with an error that later steps and people may read. */
export function withMaskedError({ execution, secrets }: ExecutedStep): Execution {
  if (!("error" in execution) || Object.keys(secrets).length === 0) return execution;
  return { ...execution, error: new SecretMask(secrets).error(execution.error) };
}

import { fileUrlMs } from "../../domain/files/file-url.ts";
import type { EventMetadata } from "../../domain/event/event-metadata.ts";
import { platformVersion } from "../../domain/version.ts";
import type { StepDeployment, WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { maxSuspensionMs, testSuspension } from "../../domain/workflow/resume-request.ts";
import type { WorkflowRunState } from "../../domain/workflow/run-state.ts";
import { storesOf } from "../run/execute.ts";
import type { ActionRequest, ExecuteRequest } from "../sandbox/port.ts";
import type { LoopLists } from "./loop-lists.ts";
import { itemsOf } from "./position.ts";
import type { StepVariables } from "./step-variables.ts";
import type { ResumeUrls } from "./resume-urls.ts";

/** One attempt of a step. */
export interface StepAttempt {
  readonly workflow: WorkflowDeployment;
  readonly step: StepDeployment;
  /** Id of the run. */
  readonly run: string;
  readonly state: WorkflowRunState;
  /** Of the run. */
  readonly lists: LoopLists;
  /** Which execution within the run it is, the same when it is repeated after a crash. */
  readonly occurrence: string;
  /** From 1. */
  readonly attempt: number;
  readonly isTest: boolean;
  /** Whether later steps of the run have its files. */
  readonly sharesFiles: boolean;
  /** Secret values by prop name. */
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly variables: StepVariables;
  /** Local file of the bundle. */
  readonly path: string;
  readonly isolate: string;
  readonly limits: ExecuteRequest["limits"];
  /** Epoch ms. */
  readonly now: number;
}

export async function stepRequest(attempt: StepAttempt, urls: ResumeUrls): Promise<ExecuteRequest> {
  const { workflow, step, run, state, occurrence, secrets, variables, path, isolate, limits } = attempt;
  return {
    source: isolate,
    owner: workflow.owner,
    revision: variables.revision === undefined ? workflow.id : `${workflow.id} ${variables.revision}`,
    bundle: { hash: step.bundle, path, needsNode: step.needsNode },
    entry: "run",
    event: "null",
    props: JSON.stringify({ ...step.props, ...secrets }),
    db: {},
    endpoint: null,
    ...(step.additionalProps === undefined ? {} : { additionalProps: step.additionalProps }),
    environment: { ...variables.environment, PD_COMPONENT: step.id, PIPEDREAM_WORKFLOW_ID: workflow.workflow },
    limits,
    ...(attempt.sharesFiles && { files: { workflow: workflow.workflow, run, layers: state.files ?? [] } }),
    ...storesOf(step.props, `${workflow.workflow} ${run} ${occurrence} ${step.id}`),
    action: await actionRequest(attempt, urls),
  };
}

async function actionRequest(attempt: StepAttempt, urls: ResumeUrls): Promise<ActionRequest> {
  const { workflow, run, state, now, secrets, variables, isTest } = attempt;
  const context = JSON.stringify(contextOf(attempt));
  const sign = await urls.signer(workflow);
  const token = { run, suspension: isTest ? testSuspension : state.suspensions + 1, expires: now + maxSuspensionMs };
  return {
    steps: stepsText(attempt, context),
    context,
    resumeUrl: sign({ ...token, action: "resume" }),
    cancelUrl: sign({ ...token, action: "cancel" }),
    ...(attempt.sharesFiles && !isTest && { filesUrl: await urls.filesUrl(workflow, run, now + fileUrlMs) }),
    variables: JSON.stringify(variables.expressions),
    secretProps: Object.keys(secrets),
  };
}

/** `steps`, joined from the stored JSON texts: parsing and encoding them again would cost more than a small step. */
function stepsText({ workflow, state, lists }: StepAttempt, context: string): string {
  const { trigger, steps } = state;
  const own = [...Object.entries(steps), ...itemsOf(state, workflow.steps, lists)].map(
    ([name, exports]) => `,${JSON.stringify(name)}:${exports}`,
  );
  return `{"trigger":{"event":${trigger.event},"context":${context}}${own.join("")}}`;
}

/** `$.context`, with the fields of the known service. */
function contextOf({ workflow, step, run, state, attempt, isTest, limits, now }: StepAttempt): Readonly<Record<string, unknown>> {
  const { trigger, reruns, rerunContext, resumedBy } = state;
  return {
    id: run,
    ts: new Date(trigger.at).toISOString(),
    workflow_id: workflow.workflow,
    workflow_name: workflow.name,
    pipeline_id: null,
    deployment_id: workflow.id,
    source_type: trigger.kind.toUpperCase(),
    ...emitterOf(trigger.metadata),
    verified: false,
    hops: state.hops ?? 0,
    test: isTest,
    replay: false,
    owner_id: workflow.owner,
    platform_version: platformVersion,
    trace_id: run,
    step_id: step.id,
    attempt,
    deadline: now + limits.timeoutMs,
    run: {
      runs: reruns + 1,
      context: rerunContext === null ? undefined : (JSON.parse(rerunContext) as unknown),
      ...(resumedBy === null ? {} : { callback_request: JSON.parse(resumedBy) as unknown }),
    },
  };
}

const emitterOf = (metadata: EventMetadata | undefined): object =>
  metadata === undefined ? {} : { emitter_id: metadata.emitter_id, emit_id: metadata.emit_id };

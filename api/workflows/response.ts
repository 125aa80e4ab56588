import type { WorkflowResource, WorkflowStep } from "../../crds/workflow.ts";
import { workflowHealthOf } from "../../crds/workflow-health.ts";
import { withAdditional, type ComponentDefinition } from "../../domain/component/definition.ts";
import { configurablePropsResponse, configuredPropsResponse } from "../../domain/component/prop-responses.ts";
import { successRate, type RecentOutcomes } from "../../domain/outcomes.ts";
import { controlFieldOf, listOf } from "../../domain/workflow/step-control.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import type { Answered } from "../http/response/answered.ts";
import { createdAt, epochSeconds, publicIdOf } from "../resources/identity.ts";
import { problemResponse } from "../resources/problem.ts";
import { ownerField } from "../resources/owner-field.ts";
import { readFields, readText } from "../resources/stored-fields.ts";
import { controlResponse } from "./control.ts";
import type { workflowSchema } from "./schemas.ts";
import { settingsShown } from "./settings.ts";
import { componentNameOf } from "./steps.ts";
import { shownTriggers } from "./triggers.ts";

/** Facts about a workflow that are not in its resource. */
export interface WorkflowFacts {
  readonly owner: string | undefined;
  /** A component of its namespace by name. */
  readonly componentOf: (name: string) => { readonly id: string; readonly definition: ComponentDefinition | undefined } | undefined;
  /** Public id of a source of its namespace by name. */
  readonly sourceOf: (name: string) => string | undefined;
  /** Its latest runs; undefined: no run of its version has ended. */
  readonly recentOf: (workflow: WorkflowResource) => RecentOutcomes | undefined;
}

export function workflowResponse(workflow: WorkflowResource, facts: WorkflowFacts): Answered<typeof workflowSchema> {
  const { metadata, status } = workflow;
  const spec: Partial<WorkflowResource["spec"]> = workflow.spec; // A stored resource may not match its schema.
  const created = createdAt(workflow);
  const recent = facts.recentOf(workflow);
  const { state, problem } = workflowHealthOf(workflow, recent);
  return {
    id: publicIdOf(workflow),
    ...ownerField(facts.owner),
    name: readText(spec.name) ?? metadata.name,
    active: spec.active ?? true,
    deployment_id: status.deployment ?? null,
    created_at: created,
    updated_at: status.updatedAt === undefined ? created : epochSeconds(status.updatedAt),
    triggers: shownTriggers(workflow, facts.sourceOf),
    steps: listOf(spec.steps).map((step) => stepResponse(step, workflow, facts)),
    settings: settingsShown(spec.settings),
    state,
    problem: problemResponse(problem),
    success_rate: successRate(recent) ?? null,
  };
}

type AnsweredStep = Answered<typeof workflowSchema>["steps"][number];

function controlStepResponse(step: WorkflowStep, workflow: WorkflowResource, facts: WorkflowFacts): AnsweredStep {
  const within = (steps: readonly WorkflowStep[]) => steps.map((each) => ({ ...stepResponse(each, workflow, facts) }));
  return {
    id: stepId(publicIdOf(workflow), step.name),
    name: step.name,
    component_id: null,
    props: {},
    configurable_props: [],
    continue_on_error: step.continueOnError ?? false,
    retries: step.retries ?? 0,
    timeout_ms: step.timeoutSeconds === undefined ? null : Math.round(step.timeoutSeconds * 1_000),
    ...controlResponse(step, within),
  } as AnsweredStep; // Steps within it are answered as records.
}

function stepResponse(step: WorkflowStep, workflow: WorkflowResource, facts: WorkflowFacts): AnsweredStep {
  const { componentOf } = facts;
  const name = componentNameOf(step, workflow);
  const component = name === undefined ? undefined : componentOf(name);
  const seen = workflow.status.steps?.find((each) => each.name === step.name);
  const definition = component?.definition === undefined ? undefined : withAdditional(component.definition, seen?.configurableProps);
  const key = component?.definition?.key ?? step.componentKey;
  const props = readFields(step.props);
  const timeout = step.timeoutSeconds;
  if (controlFieldOf(step) !== undefined) return controlStepResponse(step, workflow, facts);
  return {
    id: stepId(publicIdOf(workflow), step.name),
    name: step.name,
    component_id: component?.id ?? seen?.componentId ?? null,
    ...(key === undefined ? {} : { component_key: key }),
    props: definition === undefined ? props : configuredPropsResponse(definition, props, null),
    configurable_props: definition === undefined ? [] : configurablePropsResponse(definition),
    continue_on_error: step.continueOnError ?? false,
    retries: step.retries ?? 0,
    timeout_ms: timeout === undefined ? null : Math.round(timeout * 1_000),
  };
}

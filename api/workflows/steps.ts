import type { WorkflowResource, WorkflowSpec, WorkflowStep } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { accountPropsOf, type AccountProp } from "../../domain/component/account-props.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { stepId } from "../../domain/workflow/step-id.ts";
import { withSteps, type StepControl } from "../../domain/workflow/step-control.ts";
import { flatten } from "../../domain/workflow/step-tree.ts";
import { treeProblems } from "../../domain/workflow/step-tree-problems.ts";
import { propsWithExpressions } from "../../domain/workflow/step-props.ts";
import { namesCode, resolveAction } from "../components/resolve.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import type { ComponentResource } from "../resources/components.ts";
import { keepOnce, type Keep } from "../resources/secret-texts.ts";
import { checkStores } from "../sources/store-props.ts";
import { checkAccounts } from "../sources/account-props.ts";
import { definitionFor } from "../sources/definition-for.ts";
import { storedProps } from "../sources/props.ts";
import { withCalledIds } from "./called-workflows.ts";
import { controlOf, restPath } from "./control.ts";
import { checkExpressions, type CheckedStep } from "./expressions.ts";
import { aboutStep, type StepFields } from "./request.ts";

/** The workflow to which the steps belong. */
export interface StepsOf {
  readonly id: string;
  readonly owner: string;
  readonly user: User;
  readonly holder: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Absent for a new workflow. */
  readonly stored?: WorkflowResource;
}

/** A step whose action is known. */
export interface PreparedStep {
  readonly fields: StepFields;
  /** The fields of the spec that say which action it runs. */
  readonly action: Pick<WorkflowStep, "componentRef" | "componentKey" | "url" | "code" | "entry" | "files" | "readsVariables">;
  /** Its component. Only its metadata: a component has up to a mebibyte of code. */
  readonly component: Pick<ComponentResource, "metadata">;
  readonly definition: ComponentDefinition;
  readonly accounts: readonly AccountProp[];
  readonly keep: Keep;
}

/** The steps of a request. */
export interface PreparedSteps {
  readonly tree: readonly RequestedStep[];
  /** Those that run actions, in the order of the flat list. */
  readonly actions: readonly PreparedStep[];
}

/** A step of the tree with its fields of the request. */
export interface RequestedStep extends StepControl<RequestedStep> {
  readonly name: string;
  readonly fields: StepFields;
}

/** Resolves and builds the actions of the given steps, one after the other, and checks their props and expressions. @throws errors that name the step */
export async function prepareSteps(given: readonly StepFields[], workflow: StepsOf, context: ApiContext): Promise<PreparedSteps> {
  const requested = given.map((fields) => requestedStep(fields));
  checkTree(requested);
  const tree = await withCalledIds(requested, { owner: workflow.owner, namespace: workflow.holder.namespace }, context);
  const actions: PreparedStep[] = [];
  const checked: CheckedStep[] = [];
  for (const { node, path, control, expressions = {}, readable } of flatten(tree)) {
    const about = { name: node.name, path: restPath(path), readable };
    if (control !== undefined) checked.push({ ...about, props: expressions });
    else {
      const { fields } = node;
      const prepared = await aboutStep(node.name, () => prepareStep(fields, workflow, context));
      actions.push(prepared);
      checked.push({ ...about, props: fields.props ?? fields.configured_props ?? {}, definition: prepared.definition });
    }
  }
  checkExpressions(checked);
  return { tree, actions };
}

const requestedStep = (fields: StepFields): RequestedStep => ({
  ...controlOf(fields, (steps) => steps.map((step) => requestedStep(step))),
  name: fields.name,
  fields,
});

/** All steps of a request, each before those within it. */
export const flattenRequest = (steps: readonly StepFields[]): readonly StepFields[] =>
  flatten(steps.map((step) => requestedStep(step))).map(({ node }) => node.fields);

/** @throws InvalidInput that names every step with a mistake */
function checkTree(tree: readonly RequestedStep[]): void {
  const problems = treeProblems(tree);
  if (problems.length === 0) return;
  const details = problems.map(({ path, message }) => ({ field: restPath(path), message }));
  throw new InvalidInput(details.map(({ field, message }) => `${field}: ${message}`).join("; "), { code: "invalid_step", details });
}

async function prepareStep(fields: StepFields, workflow: StepsOf, context: ApiContext): Promise<PreparedStep> {
  const { stored, owner, user, holder, id } = workflow;
  const previous = stored === undefined ? undefined : previousStep(fields, actionsOf(stored.spec), id);
  const { action, component, definition: own } = await resolveStep(fields, previous, owner, user, context, stored);
  const props = fields.props ?? fields.configured_props;
  const hidden = Object.keys(previous?.secrets ?? {});
  const definition = await definitionFor(
    component,
    own,
    {
      props: props ?? previous?.props ?? {},
      hidden,
      mayHaveExpressions: true,
      ...(stored === undefined || previous === undefined ? {} : { of: { workflow: stored.metadata.name, step: previous.name } }),
    },
    context,
  );
  const accounts = accountPropsOf(definition, props ?? {});
  await checkAccounts(accounts, holder.namespace, context);
  await checkStores(definition, props ?? {}, holder.namespace, context);
  return { fields, action, component, definition, accounts, keep: keepOnce(holder, context.ports) };
}

/** The stored step with this name, or with the id, if it is renamed. */
export function previousStep(
  { id, name }: Pick<StepFields, "id" | "name">,
  steps: readonly WorkflowStep[],
  workflow: string,
): WorkflowStep | undefined {
  return (
    steps.find((step) => step.name === name) ?? (id === undefined ? undefined : steps.find((step) => stepId(workflow, step.name) === id))
  );
}

/** Without a component in the request, a stored step keeps its action. */
async function resolveStep(
  fields: StepFields,
  previous: WorkflowStep | undefined,
  owner: string,
  user: User,
  context: ApiContext,
  stored: WorkflowResource | undefined,
): Promise<Pick<PreparedStep, "action" | "component" | "definition">> {
  const code = { ...fields, key: fields.component_key ?? fields.key };
  const running = previous === undefined ? undefined : componentNameOf(previous, stored);
  if (previous !== undefined && running !== undefined && stored !== undefined) {
    const { namespace } = stored.metadata;
    const known = await context.components.known(namespace, running);
    // Clients send back the id of the component that the operator created from the step's code.
    const isSame = namesCode(code) ? onlyId(code) && code.component_id === known?.id : true;
    if (isSame && known?.definition !== undefined) {
      const { componentRef, componentKey, url, code: text, entry, files, readsVariables } = previous;
      const action = Object.fromEntries(
        Object.entries({ componentRef, componentKey, url, code: text, entry, files, readsVariables }).filter(
          ([, value]) => value !== undefined,
        ),
      );
      return { action, component: { metadata: { ...stored.metadata, name: running } }, definition: known.definition };
    }
  }
  const { component, build } = await resolveAction(code, owner, user, context);
  const { metadata } = component;
  // Code that is sent with the step is the step's own.
  const isOwn = code.component_code !== undefined || code.component_files !== undefined;
  return {
    action: { componentRef: { name: metadata.name }, ...(isOwn ? { readsVariables: true } : {}) },
    component: { metadata },
    definition: build.definition,
  };
}

const onlyId = ({ component_code, component_files, component_url }: StepFields): boolean =>
  component_code === undefined && component_files === undefined && component_url === undefined;

/** The step's component: the one that it refers to, or the one that the operator uses for it. */
export function componentNameOf({ name, componentRef }: WorkflowStep, workflow: WorkflowResource | undefined): string | undefined {
  return componentRef?.name ?? workflow?.status.steps?.find((step) => step.name === name)?.component;
}

const actionsOf = (spec: Pick<WorkflowSpec, "steps">): readonly WorkflowStep[] =>
  stepsOf(spec).flatMap(({ node, control }) => (control === undefined ? [node] : []));

/** The steps for the spec. Values that a step does not give stay, secrets too. */
export async function storedSteps(
  { tree, actions }: PreparedSteps,
  before: Pick<WorkflowSpec, "steps">,
  workflow: string,
): Promise<WorkflowSpec["steps"]> {
  const known = actionsOf(before);
  const stored = new Map<string, WorkflowStep>();
  for (const step of actions) stored.set(step.fields.name, await aboutStep(step.fields.name, () => storedStep(step, known, workflow)));
  const controls = new Map(stepsOf(before).flatMap(({ node, control }) => (control === undefined ? [] : [[node.name, node] as const])));
  const toSpec = ({ name, fields, ...control }: RequestedStep): WorkflowStep =>
    stored.get(name) ?? {
      name,
      ...withSteps(control, (steps) => steps.map((step) => toSpec(step))),
      props: {},
      secrets: {},
      ...behaviour(fields, controls.get(name)),
    };
  return tree.map((step) => toSpec(step));
}

async function storedStep(
  { fields, action, definition, keep }: PreparedStep,
  before: readonly WorkflowStep[],
  workflow: string,
): Promise<WorkflowStep> {
  const previous = previousStep(fields, before, workflow);
  const { name } = fields;
  const props = fields.props ?? fields.configured_props;
  return {
    ...action,
    name,
    ...(await storedProps(definition, props, previous, keep, propsWithExpressions(props ?? previous?.props ?? {}))),
    ...behaviour(fields, previous),
  };
}

/** How often and how long a step is tried. What a request does not say stays. */
function behaviour(
  { continue_on_error, retries, timeout_ms }: StepFields,
  previous: WorkflowStep | undefined,
): Pick<WorkflowStep, "continueOnError" | "retries" | "timeoutSeconds"> {
  const timeoutSeconds = timeout_ms === undefined ? previous?.timeoutSeconds : timeout_ms / 1_000;
  return {
    continueOnError: continue_on_error ?? previous?.continueOnError ?? false,
    retries: retries ?? previous?.retries ?? 0,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
}

import type { WorkflowResource, WorkflowSpec, WorkflowStep } from "../../crds/workflow.ts";
import { accountPropsOf, type AccountProp } from "../../domain/component/account-props.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { stepId, triggerStep } from "../../domain/workflow/step-id.ts";
import { propsWithExpressions } from "../../domain/workflow/step-props.ts";
import { namesCode, resolveAction } from "../components/resolve.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import type { ComponentResource } from "../resources/components.ts";
import { keepOnce, type Keep } from "../resources/secret-texts.ts";
import { checkAccounts } from "../sources/account-props.ts";
import { definitionFor } from "../sources/definition-for.ts";
import { storedProps } from "../sources/props.ts";
import { checkExpressions } from "./expressions.ts";
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
  readonly action: Pick<WorkflowStep, "componentRef" | "componentKey" | "url" | "code" | "entry" | "files">;
  /** Its component. Only its metadata: a component has up to a mebibyte of code. */
  readonly component: Pick<ComponentResource, "metadata">;
  readonly definition: ComponentDefinition;
  readonly accounts: readonly AccountProp[];
  readonly keep: Keep;
}

/** Resolves and builds the actions of the given steps, one after the other, and checks their props and expressions. @throws errors that name the step */
export async function prepareSteps(given: readonly StepFields[], workflow: StepsOf, context: ApiContext): Promise<readonly PreparedStep[]> {
  checkNames(given.map(({ name }) => name));
  const prepared: PreparedStep[] = [];
  for (const fields of given) prepared.push(await aboutStep(fields.name, () => prepareStep(fields, workflow, context)));
  checkExpressions(prepared);
  return prepared;
}

async function prepareStep(fields: StepFields, workflow: StepsOf, context: ApiContext): Promise<PreparedStep> {
  const { stored, owner, user, holder, id } = workflow;
  const previous = stored === undefined ? undefined : previousStep(fields, stored.spec.steps, id);
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
      const { componentRef, componentKey, url, code: text, entry, files } = previous;
      const action = Object.fromEntries(
        Object.entries({ componentRef, componentKey, url, code: text, entry, files }).filter(([, value]) => value !== undefined),
      );
      return { action, component: { metadata: { ...stored.metadata, name: running } }, definition: known.definition };
    }
  }
  const { component, build } = await resolveAction(code, owner, user, context);
  const { metadata } = component;
  return { action: { componentRef: { name: metadata.name } }, component: { metadata }, definition: build.definition };
}

const onlyId = ({ component_code, component_files, component_url }: StepFields): boolean =>
  component_code === undefined && component_files === undefined && component_url === undefined;

/** The step's component: the one that it refers to, or the one that the operator uses for it. */
export function componentNameOf({ name, componentRef }: WorkflowStep, workflow: WorkflowResource | undefined): string | undefined {
  return componentRef?.name ?? workflow?.status.steps?.find((step) => step.name === name)?.component;
}

/** The steps for the spec. Values that a step does not give stay, secrets too. */
export async function storedSteps(
  steps: readonly PreparedStep[],
  before: WorkflowSpec["steps"],
  workflow: string,
): Promise<WorkflowSpec["steps"]> {
  const stored: WorkflowStep[] = [];
  for (const step of steps) stored.push(await aboutStep(step.fields.name, () => storedStep(step, before, workflow)));
  return stored;
}

async function storedStep(
  { fields, action, definition, keep }: PreparedStep,
  before: WorkflowSpec["steps"],
  workflow: string,
): Promise<WorkflowStep> {
  const previous = previousStep(fields, before, workflow);
  const { name, continue_on_error, retries, timeout_ms } = fields;
  const props = fields.props ?? fields.configured_props;
  const timeoutSeconds = timeout_ms === undefined ? previous?.timeoutSeconds : timeout_ms / 1_000;
  return {
    ...action,
    name,
    ...(await storedProps(definition, props, previous, keep, propsWithExpressions(props ?? previous?.props ?? {}))),
    continueOnError: continue_on_error ?? previous?.continueOnError ?? false,
    retries: retries ?? previous?.retries ?? 0,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
}

/** @throws InvalidInput that names the step */
function checkNames(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw invalidName(
      names.lastIndexOf(repeated),
      `step '${repeated}' occurs twice: expressions read exports by the step's name, so give each step another`,
    );
  const reserved = names.indexOf(triggerStep);
  if (reserved >= 0)
    throw invalidName(reserved, `a step cannot be named '${triggerStep}': steps.${triggerStep} is the event that started the run`);
}

const invalidName = (index: number, message: string): InvalidInput =>
  new InvalidInput(message, { code: "invalid_step", details: [{ field: `steps.${index}.name`, message }] });

import { z } from "zod";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { InvalidInput, LimitExceeded } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { controlCode } from "../../domain/workflow/control-code.ts";
import { flatten, type FlatStep } from "../../domain/workflow/step-tree.ts";
import type { StepDeployment } from "../../domain/workflow/deployment.ts";
import type { WorkflowTestOutcome } from "../../domain/workflow/test-run.ts";
import { codeFields } from "../components/request.ts";
import { resolveAction } from "../components/resolve.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import type { Call, Input } from "../http/request/call.ts";
import { optionalText, text } from "../http/request/parameters.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { publicIdOf } from "../resources/identity.ts";
import { storedProps } from "../sources/props.ts";
import { propsWithExpressions } from "../../domain/workflow/step-props.ts";
import { workflowOf } from "./find-workflow.ts";
import { aboutStep, draftSteps, withStepNames } from "./request.ts";
import type { DraftStep } from "./ports.ts";
import { manualRunOf } from "./runnable.ts";
import { flattenRequest, prepareSteps, previousStep, type PreparedStep, type RequestedStep } from "./steps.ts";

/** The body of a test. */
export const testFields = z.object({
  event: z.unknown().optional().describe("The trigger's event, `steps.trigger.event`. Default: what the first trigger would send."),
  until_step: optionalText(text).describe("Name or id of the last step to execute; absent: all."),
  steps: draftSteps.describe("The steps of a draft, in the form of PUT. Absent: the saved steps."),
});

/** Event and draft are one message. */
const maxDraftBytes = 512 * 1024;

export interface StartedTest {
  readonly run: string;
  readonly workflow: string;
  readonly outcome: Promise<WorkflowTestOutcome | undefined>;
}

/** Requests the test. Only this function holds the event and the draft, see `dropBody`. */
export async function startTest(call: Call & Input<unknown, z.output<typeof testFields>>, context: ApiContext): Promise<StartedTest> {
  const { config, ports } = context;
  const workflow = await workflowOf(call, context);
  const { event, until_step, steps } = withStepNames(() => call.body(), call.fields["steps"]);
  const run = newId("run", ports.randomBytes);
  const named = steps === undefined ? stepsOf(workflow.spec).map(({ node }) => node) : flattenRequest(steps);
  const untilStep = until_step === undefined ? undefined : lastStep(until_step, named, workflow);
  const manual = await manualRunOf(workflow, { run, event, trace: call.trace }, context);
  const draft = steps === undefined ? undefined : await sealedDraft(steps, workflow, call, context);
  const test = { ...(untilStep === undefined ? {} : { untilStep }), ...(draft === undefined ? {} : { steps: draft }) };
  return {
    run,
    workflow: publicIdOf(workflow),
    ...(await ports.workflowTests.request({ ...manual, test, timeoutMs: config.runTimeoutMs })),
  };
}

/** @throws InvalidInput */
function lastStep(
  given: string,
  steps: readonly { readonly name: string; readonly id?: string | undefined }[],
  workflow: WorkflowResource,
): string {
  const ids = new Map((workflow.status.steps ?? []).map(({ id, name }) => [id, name]));
  const name = steps.find((step) => step.id === given)?.name ?? ids.get(given) ?? given;
  if (steps.some((step) => step.name === name)) return name;
  const known = steps.map((step) => step.name).join(", ");
  throw new InvalidInput(
    `until_step '${given.slice(0, 80)}' is not a step: ${known === "" ? "there are no steps" : `the steps are ${known}`}`,
  );
}

/** Builds the draft's components, and has its secrets and accounts sealed by the operator. */
async function sealedDraft(
  steps: NonNullable<z.output<typeof draftSteps>>,
  workflow: WorkflowResource,
  { user }: Call,
  context: ApiContext,
): Promise<readonly StepDeployment[]> {
  const { ports } = context;
  const { namespace, name } = workflow.metadata;
  const [id, owner] = [publicIdOf(workflow), (await context.access.ownerOf(workflow)) ?? user.id];
  const holder = { kind: workflow.kind, namespace, name };
  const { tree, actions } = await prepareSteps(steps, { id, owner, user, holder, stored: workflow }, context);
  const draft: DraftStep[] = [];
  for (const flat of flatten(tree)) {
    const action = actions.find(({ fields }) => fields.name === flat.node.name);
    draft.push(
      action === undefined
        ? await controlStep(flat, { owner, user }, context)
        : await aboutStep(flat.node.name, () => draftStep(action, workflow)),
    );
  }
  const sealed = await ports.workflowTests.seal({ namespace, workflow: name, draft });
  const bytes = Buffer.byteLength(JSON.stringify(sealed));
  if (bytes <= maxDraftBytes) return sealed;
  throw new LimitExceeded(`the steps of the draft have ${bytes} bytes of JSON: the limit of a test is ${maxDraftBytes}; save them first`);
}

/** A step that controls others, with the action that evaluates its expression. */
async function controlStep(
  { node: { name, fields }, control, value }: FlatStep<RequestedStep>,
  { owner, user }: { readonly owner: string; readonly user: User },
  context: ApiContext,
): Promise<DraftStep> {
  const { component } = await resolveAction(codeFields.parse({ component_code: controlCode }), owner, user, context);
  return {
    name,
    component: component.metadata.name,
    props: value === undefined ? {} : { value },
    continueOnError: fields.continue_on_error ?? false,
    retries: fields.retries ?? 0,
    timeoutMs: null,
    ...(control === undefined ? {} : { control }),
  };
}

/** Checks the values as for storage, but stores no secrets. */
async function draftStep({ fields, action, component, definition }: PreparedStep, workflow: WorkflowResource): Promise<DraftStep> {
  const previous = previousStep(
    fields,
    stepsOf(workflow.spec).map(({ node }) => node),
    publicIdOf(workflow),
  );
  const given = fields.props ?? fields.configured_props;
  const props = given ?? previous?.props ?? {};
  await storedProps(definition, given, previous, async () => ({}), propsWithExpressions(props));
  const { id, name, continue_on_error, retries, timeout_ms } = fields;
  const seconds = previous?.timeoutSeconds;
  return {
    ...(id === undefined ? {} : { id }),
    name,
    component: component.metadata.name,
    readsVariables: action.code !== undefined || action.readsVariables === true,
    props,
    ...(definition.hasAdditionalProps ? {} : { configurableProps: definition.props }),
    continueOnError: continue_on_error ?? previous?.continueOnError ?? false,
    retries: retries ?? previous?.retries ?? 0,
    timeoutMs: timeout_ms ?? (seconds === undefined ? null : seconds * 1_000),
  };
}

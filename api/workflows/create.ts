import { componentKind } from "../../crds/component.ts";
import { finalizer, labels } from "../../crds/resource.ts";
import { emptyWorkflow, workflowKind, type WorkflowResource, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import { confirmCreated } from "../resources/change.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import type { Following } from "../resources/watch/following.ts";
import { checkAccounts } from "../sources/account-props.ts";
import { discard, untilDeployed, type Deployment } from "./deploy.ts";
import type { WorkflowFields } from "./request.ts";
import { settingsIn } from "./settings.ts";
import { prepareSteps, storedSteps, type PreparedStep } from "./steps.ts";
import { storedTriggers } from "./triggers.ts";

/** Creates a workflow, and deletes it if it cannot be deployed. */
export async function createWorkflow(fields: WorkflowFields, owner: string, user: User, context: ApiContext): Promise<Deployment> {
  const { ports, workflows } = context;
  const id = newId("workflow", ports.randomBytes);
  const [namespace, name] = [await ports.owners.ensure(owner), resourceNameOf(id)];
  const triggers = await storedTriggers(fields.triggers ?? [], user, context);
  const steps = await prepareSteps(fields.steps ?? [], { id, owner, user, holder: { kind: workflowKind.kind, namespace, name } }, context);
  const spec: WorkflowSpec = {
    ...emptyWorkflow,
    name: fields.name,
    ...(fields.active === undefined ? {} : { active: fields.active }),
    triggers: [...triggers],
    steps: await storedSteps(steps, emptyWorkflow, id),
    settings: settingsIn(fields.settings, emptyWorkflow.settings),
  };
  const following = workflows.follow(namespace, name);
  try {
    const created = await ports.store.create(workflowKind, {
      name,
      namespace,
      labels: { [labels.id]: id, [labels.owner]: owner },
      finalizers: [finalizer],
      spec,
    });
    await confirmOwned(workflowKind, created, owner, ports);
    await confirmCreated(workflowKind, created, () => checkComponents(steps.actions, context), ports.store);
    // An account may have been deleted before this workflow existed; the operator would wait for it.
    await checkAccounts(accountsOf(steps.actions), namespace, context);
    return deploymentOf(created, following, context);
  } catch (error) {
    following.end();
    if (error instanceof InvalidInput) await discard(namespace, name, context);
    throw error;
  }
}

/** A separate function, so that none of its variables holds the request. */
function deploymentOf(created: WorkflowResource, following: Following<WorkflowSpec, WorkflowStatus>, context: ApiContext): Deployment {
  const { namespace, name } = created.metadata;
  return {
    deployed: () =>
      untilDeployed(created, following, context)
        .catch(async (error: unknown) => {
          if (error instanceof InvalidInput) await discard(namespace, name, context);
          throw error;
        })
        .finally(() => following.end()),
  };
}

const accountsOf = (steps: readonly PreparedStep[]) => steps.flatMap(({ accounts }) => accounts);

/** A deletion of a component may have checked its users before this workflow existed. @throws NotFound */
export async function checkComponents(steps: readonly PreparedStep[], { ports }: ApiContext): Promise<void> {
  for (const { fields, component } of steps) {
    const { namespace, name } = component.metadata;
    if ((await ports.store.find(componentKind, namespace, name)) === undefined)
      throw new NotFound(`step '${fields.name}': its component was deleted in the meantime`);
  }
}

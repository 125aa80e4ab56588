import { workflowKind, type WorkflowResource, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import { Invariant } from "../../domain/errors.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import { changeResource } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Following } from "../resources/watch/following.ts";
import { untilDeployed, type Deployment } from "./deploy.ts";
import type { WorkflowChanges } from "./request.ts";
import { settingsIn } from "./settings.ts";
import { prepareSteps, storedSteps } from "./steps.ts";
import { storedTriggers } from "./triggers.ts";

/** Changes the given fields. Steps, triggers and settings are replaced as a whole; a step that stays keeps the secrets that it does not give. */
export async function updateWorkflow(
  workflow: WorkflowResource,
  fields: WorkflowChanges,
  user: User,
  context: ApiContext,
): Promise<Deployment> {
  const { ports, workflows } = context;
  const { namespace, name } = workflow.metadata;
  const [id, owner] = [publicIdOf(workflow), await ports.owners.ownerOf(namespace)];
  if (owner === undefined) throw new Invariant(`namespace ${namespace} has no owner`);
  const triggers = fields.triggers === undefined ? undefined : await storedTriggers(fields.triggers, user, context);
  const holder = { kind: workflowKind.kind, namespace, name };
  const steps =
    fields.steps === undefined ? undefined : await prepareSteps(fields.steps, { id, owner, user, holder, stored: workflow }, context);
  const following = workflows.follow(namespace, name);
  try {
    const changed = await changeResource(workflowKind, ports.store, workflow, async ({ spec: before }): Promise<WorkflowSpec> => {
      return {
        ...before,
        ...(fields.name === undefined ? {} : { name: fields.name }),
        ...(fields.active === undefined ? {} : { active: fields.active }),
        ...(triggers === undefined ? {} : { triggers: [...triggers] }),
        ...(steps === undefined ? {} : { steps: await storedSteps(steps, before, id) }),
        settings: settingsIn(fields.settings, before.settings),
      };
    });
    return deploymentOf(changed, following, context);
  } catch (error) {
    following.end();
    throw error;
  }
}

/** A separate function, so that none of its variables holds the request. */
function deploymentOf(changed: WorkflowResource, following: Following<WorkflowSpec, WorkflowStatus>, context: ApiContext): Deployment {
  return { deployed: () => untilDeployed(changed, following, context).finally(() => following.end()) };
}

import { sourceKind } from "../../crds/source.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { Conflict } from "../../domain/errors.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { connectedBy, isMadeFor, workflowListeningBy, type SubscriptionResource } from "./find.ts";

/** @throws Conflict for the subscription of a trigger: the operator would make it again */
export async function refuseTrigger(subscription: SubscriptionResource, { ports }: Pick<ApiContext, "ports">): Promise<void> {
  const ends = connectedBy(subscription);
  const workflow = await workflowListeningBy(ends, ports);
  if (workflow === undefined || workflow.metadata.namespace !== subscription.metadata.namespace) return;
  if (!isMadeFor(workflow, subscription) && !(await hasTrigger(workflow, ends.emitter ?? "", ports))) return;
  const [id, trigger] = [publicIdOf(workflow), ends.emitter];
  const name = workflow.invalid === undefined ? workflow.spec.name : undefined;
  throw new Conflict(
    `subscription ${publicIdOf(subscription)} is the trigger ${trigger} of workflow ${id}${name === undefined ? "" : ` '${name}'`}: PUT /v1/workflows/${id} without that trigger ends it`,
    { code: "subscription_of_trigger", details: { workflow_id: id, trigger_id: trigger } },
  );
}

async function hasTrigger({ metadata, spec, invalid }: WorkflowResource, source: string, { store }: ApiContext["ports"]): Promise<boolean> {
  if (invalid !== undefined) return false;
  if (spec.triggers.some((trigger) => trigger.source === source)) return true;
  const names = spec.triggers.flatMap(({ sourceRef }) => sourceRef?.name ?? []);
  const found = names.length === 0 ? undefined : await store.findById(sourceKind, source);
  return found !== undefined && found.metadata.namespace === metadata.namespace && names.includes(found.metadata.name);
}

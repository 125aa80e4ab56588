import { madeSubscriptionName } from "../../crds/auto-subscription.ts";
import { madeFor, labels, type Resource } from "../../crds/resource.ts";
import { subscriptionKind, subscriptionLabels, type SubscriptionResource, type SubscriptionSpec } from "../../crds/subscription.ts";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { Conflict } from "../../domain/errors.ts";
import { isMadeFor } from "../configured/component.ts";
import { sameStatus } from "../controller/conditions.ts";
import { ownedBy } from "../controller/ownership.ts";
import type { OperatorPorts } from "../ports.ts";

/** Cached lookups of resources made for a workflow, by its uid. */
export interface MadeLookup {
  components(uid: string): Iterable<string>;
  subscriptions(uid: string): Iterable<string>;
}

/** Name of the Subscription made for a source trigger. */
export const triggerSubscriptionName = (workflow: string, source: string): string => madeSubscriptionName(`${workflow}-trigger`, source);

const specOf = (workflow: string, source: string): SubscriptionSpec => ({ emitter: source, listener: workflow, channel: "" });

/** Is it made for the workflow, as it should be? */
export function isTriggerSubscription(made: SubscriptionResource, workflow: WorkflowResource, source: string): boolean {
  return isMadeFor(workflow, made) && sameStatus(made.spec, specOf(workflow.status.id ?? "", source));
}

/** Keys of the workflows that own a resource. */
export function workflowsOwning({ metadata: { namespace, ownerReferences = [] } }: Resource): readonly string[] {
  return ownerReferences.filter(({ kind }) => kind === "Workflow").map(({ name }) => `${namespace}/${name}`);
}

/** @param now the Subscription as it is */
export async function subscribe(
  workflow: WorkflowResource,
  source: string,
  now: SubscriptionResource | undefined,
  { store, newId }: Pick<OperatorPorts, "store" | "newId">,
): Promise<void> {
  const { namespace, name, uid } = workflow.metadata;
  const id = workflow.status.id ?? "";
  if (now !== undefined) {
    await store.update(subscriptionKind, { ...now, spec: specOf(id, source) });
    return;
  }
  await store
    .create(subscriptionKind, {
      namespace,
      name: triggerSubscriptionName(name, source),
      labels: {
        [labels.id]: newId("subscription"),
        [madeFor]: uid,
        [subscriptionLabels.emitter]: source,
        [subscriptionLabels.listener]: id,
      },
      ownerReferences: [ownedBy(workflow)],
      spec: specOf(id, source),
    })
    .catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error; // The next plan finds it.
    });
}

import { triggerSubscriptionName } from "../../../crds/auto-subscription.ts";
import { madeFor, labels, type Resource } from "../../../crds/resource.ts";
import { subscriptionKind, subscriptionLabels, type SubscriptionResource, type SubscriptionSpec } from "../../../crds/subscription.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { Conflict } from "../../../domain/errors.ts";
import { isMadeFor } from "../../configured/component.ts";
import { sameStatus } from "../../controller/conditions.ts";
import { ownedBy } from "../../controller/ownership.ts";
import type { OperatorPorts } from "../../ports.ts";

/** Cached lookups of resources made for a workflow, by its uid. */
export interface MadeLookup {
  components(uid: string): Iterable<string>;
  subscriptions(uid: string): Iterable<string>;
  /** Keys of all Subscriptions in a namespace whose listener has this id. */
  subscriptionsTo(namespace: string, listener: string): Iterable<string>;
}

const specOf = (workflow: string, source: string): SubscriptionSpec => ({ emitter: source, listener: workflow, channel: "" });

/** Is it made for the workflow, as it should be? */
export function isTriggerSubscription(made: SubscriptionResource, workflow: WorkflowResource, source: string): boolean {
  return isMadeFor(workflow, made) && sameStatus(made.spec, specOf(workflow.status.id ?? "", source));
}

/** The source whose default channel this Subscription, made by others, delivers to the workflow; undefined if it delivers something else. */
export function sourceConnectedBy(found: SubscriptionResource, workflow: WorkflowResource): string | undefined {
  const { metadata, spec, status, invalid } = found;
  if (invalid !== undefined || metadata.deletionTimestamp !== undefined || isMadeFor(workflow, found)) return undefined;
  const listener = spec.listener ?? status.listener;
  return spec.channel === "" && listener !== undefined && listener === workflow.status.id ? (spec.emitter ?? status.emitter) : undefined;
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

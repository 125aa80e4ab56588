import { randomBytes } from "node:crypto";
import { componentKind } from "../../../crds/component.ts";
import { subscriptionKind, type SubscriptionResource } from "../../../crds/subscription.ts";
import { workflowKind, type WorkflowResource, type WorkflowSpec } from "../../../crds/workflow.ts";
import { Conflict } from "../../../domain/errors.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { defaultPool, deploymentKey } from "../../../domain/subjects.ts";
import { versionName, type WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import { madeFor } from "../../../crds/resource.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import { componentKeyOf } from "../../../operator/workflow/caches.ts";
import type { WorkflowLookup } from "../../../operator/workflow/observe/observe.ts";
import { until } from "../../support/until.ts";
import { owner, type OperatorWorld } from "./world.ts";

export const namespace = namespaceOfOwner(owner);

/** Spec of a workflow as users write it. */
export type GivenSpec = Parameters<typeof workflowKind.spec.parse>[0];
export const specOf = (given: GivenSpec): WorkflowSpec => workflowKind.spec.parse(given);

/** Workflows of an operator's world. */
export function workflowsIn(world: OperatorWorld) {
  const find = (name: string): Promise<WorkflowResource | undefined> => world.ports.store.find(workflowKind, namespace, name);
  const get = (name: string): Promise<WorkflowResource> => world.ports.store.get(workflowKind, namespace, name);
  const create = (given: GivenSpec, name = `flow-${randomBytes(4).toString("hex")}`): Promise<WorkflowResource> =>
    world.ports.store.create(workflowKind, { namespace, name, spec: specOf(given) });

  async function change({ metadata }: WorkflowResource, given: Partial<WorkflowSpec>): Promise<WorkflowResource> {
    for (;;) {
      const now = await get(metadata.name);
      try {
        return await world.ports.store.update(workflowKind, { ...now, spec: specOf({ ...now.spec, ...given } as GivenSpec) });
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
      }
    }
  }

  /** Waits for the reason of its current generation's `Ready`. */
  async function untilReason({ metadata }: WorkflowResource, reason: string): Promise<WorkflowResource> {
    let seen: WorkflowResource | undefined;
    const isReached = async (): Promise<boolean> => {
      seen = await get(metadata.name);
      const ready = readyOf(seen);
      return ready?.reason === reason && ready.observedGeneration === seen.metadata.generation;
    };
    await until(isReached, `${metadata.name} is ${reason}`, { maxWaitMs: 30_000 }).catch((error: unknown) => {
      throw new Error(`its Ready is ${JSON.stringify(seen === undefined ? undefined : readyOf(seen))}`, { cause: error });
    });
    return get(metadata.name);
  }

  async function entry(key: string): Promise<WorkflowDeployment | undefined> {
    const found = await world.ports.workflowDeployments.get(key);
    return found === undefined || hasMoved(found) ? undefined : found;
  }

  return {
    find,
    get,
    create,
    change,
    untilReason,
    remove: (name: string) => world.ports.store.delete(workflowKind, namespace, name),
    deployed: ({ status }: WorkflowResource, pool = defaultPool) => entry(deploymentKey(pool, status.id ?? "")),
    version: ({ status }: WorkflowResource, id: string, pool = defaultPool) => entry(deploymentKey(pool, versionName(status.id ?? "", id))),
    endpoint: ({ status }: WorkflowResource) => world.ports.endpoints.get(status.endpointKey ?? "none"),
    subscriptions: async ({ metadata }: WorkflowResource): Promise<readonly SubscriptionResource[]> =>
      (await world.ports.store.list(subscriptionKind, { namespace, labels: { [madeFor]: metadata.uid } })).items,
    components: async ({ metadata }: WorkflowResource): Promise<readonly string[]> =>
      (await world.ports.store.list(componentKind, { namespace, labels: { [madeFor]: metadata.uid } })).items.map(
        (made) => made.metadata.name,
      ),
  };
}

export const readyOf = ({ status }: WorkflowResource) => status.conditions?.find(({ type }) => type === "Ready");

/** The content of the caches, read from the store. */
export async function lookupNow({ ports: { store } }: OperatorWorld): Promise<WorkflowLookup> {
  const components = (await store.list(componentKind, { namespace })).items;
  const subscriptions = (await store.list(subscriptionKind, { namespace })).items;
  return {
    components: { withKey: (_, key) => components.filter((component) => componentKeyOf(component) === key) },
    made: {
      components: (uid) => components.filter(({ metadata }) => metadata.labels[madeFor] === uid).map(keyOf),
      subscriptionsTo: (_, listener) => subscriptions.filter(({ spec }) => spec.listener === listener).map(keyOf),
      subscriptions: (uid) => subscriptions.filter(({ metadata }) => metadata.labels[madeFor] === uid).map(keyOf),
    },
  };
}

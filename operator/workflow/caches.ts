import { madeFor, labels, type Resource } from "../../crds/resource.ts";
import type { SubscriptionResource } from "../../crds/subscription.ts";
import type { WorkflowResource, WorkflowStep } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { accountIdsAmong } from "../../domain/component/account-props.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { ComponentResource } from "../../crds/component.ts";
import type { Caches } from "../caches.ts";
import { keyOf } from "../controller/informer.ts";
import { ResourceIndex } from "../controller/resource-index.ts";
import { ofValid } from "../controller/skip-invalid.ts";
import { workflowsOwning } from "./observe/made.ts";
import type { WorkflowLookup } from "./observe/observe.ts";
import { stepComponentName } from "./observe/step-component.ts";

export interface WorkflowCaches extends WorkflowLookup {
  /** Keys of the workflows with a step that runs the component, or names its key. */
  readonly running: (component: ComponentResource) => readonly string[];
  /** Keys of the workflows with the account in a prop. */
  readonly using: (account: Resource) => readonly string[];
  /** Keys of the workflows with a trigger that names the source. */
  readonly triggeredBy: (source: Resource) => readonly string[];
  /** Keys of the workflow to which the Subscription delivers, and of the one that owns it. */
  readonly connectedBy: (subscription: SubscriptionResource) => readonly string[];
}

/** Indexed lookups of workflows, and of what is made for them. */
export function workflowCaches({
  workflows,
  components,
  subscriptions,
}: Pick<Caches, "workflows" | "components" | "subscriptions">): WorkflowCaches {
  const byComponent = new ResourceIndex(
    workflows,
    ofValid(({ metadata: { namespace, name }, spec }) =>
      stepsOf(spec).flatMap(({ node }) => componentsNamed(name, node).map((component) => `${namespace}/${component}`)),
    ),
  );
  const byAccount = new ResourceIndex(
    workflows,
    ofValid((workflow) => accountsOfWorkflow(workflow).map((id) => `${workflow.metadata.namespace} ${id}`)),
  );
  const bySource = new ResourceIndex(
    workflows,
    ofValid(({ metadata: { namespace }, spec }) =>
      spec.triggers.flatMap(({ source, sourceRef }) => source ?? (sourceRef === undefined ? [] : `${namespace}/${sourceRef.name}`)),
    ),
  );
  const byKey = new ResourceIndex(components, (component) => `${component.metadata.namespace} ${componentKeyOf(component) ?? ""}`);
  const componentsOf = new ResourceIndex(components, ({ metadata }) => metadata.labels[madeFor]);
  const subscriptionsOf = new ResourceIndex(subscriptions, ({ metadata }) => metadata.labels[madeFor]);
  const byListener = new ResourceIndex(subscriptions, (each) => `${each.metadata.namespace} ${listenerOf(each) ?? ""}`);
  const byId = new ResourceIndex(workflows, ({ metadata, status }) => `${metadata.namespace} ${status.id ?? ""}`);
  return {
    components: { withKey: (namespace, key) => byKey.keys(`${namespace} ${key}`).flatMap((name) => components.get(name) ?? []) },
    made: {
      components: (uid) => componentsOf.keys(uid),
      subscriptions: (uid) => subscriptionsOf.keys(uid),
      subscriptionsTo: (namespace, listener) => byListener.keys(`${namespace} ${listener}`),
    },
    connectedBy: (subscription) => [
      ...workflowsOwning(subscription),
      ...byId.keys(`${subscription.metadata.namespace} ${listenerOf(subscription) ?? ""}`),
    ],
    running: (component) => {
      const key = componentKeyOf(component);
      const byName = byComponent.keys(keyOf(component));
      return key === undefined ? byName : [...byName, ...byComponent.keys(`${component.metadata.namespace}/key ${key}`)];
    },
    using: ({ metadata: { namespace, name, labels: given } }) =>
      [given[labels.id], idOfResourceName(name)].flatMap((id) => (id === undefined ? [] : byAccount.keys(`${namespace} ${id}`))),
    triggeredBy: (source) => [...bySource.keys(source.metadata.labels[labels.id] ?? ""), ...bySource.keys(keyOf(source))],
  };
}

/** Ids of the accounts in the props of its steps. */
export const accountsOfWorkflow = ({ spec }: Pick<WorkflowResource, "spec">): readonly string[] => [
  ...new Set(stepsOf(spec).flatMap(({ node }) => accountIdsAmong(node.props))),
];

/** Its public id; undefined for one that does not exist yet, or is not valid. */
const listenerOf = ofValid(({ spec, status }: SubscriptionResource) => spec.listener ?? status.listener);

/** The key in the component's definition. */
export function componentKeyOf({ spec, status, invalid }: ComponentResource): string | undefined {
  return status.build?.definition.key ?? (invalid === undefined ? spec.key : undefined);
}

/** Names of a step's components: the one that it refers to, or its own, and a key as `key <key>`. */
function componentsNamed(workflow: string, { name, componentRef, componentKey }: WorkflowStep): readonly string[] {
  if (componentRef !== undefined) return [componentRef.name];
  return [stepComponentName(workflow, name), ...(componentKey === undefined ? [] : [`key ${componentKey}`])];
}

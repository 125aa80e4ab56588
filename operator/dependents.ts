import type { OAuthClientResource } from "../crds/oauth-client.ts";
import { labels, type Resource } from "../crds/resource.ts";
import { idOfResourceName } from "../domain/ids.ts";
import { autoSubscriptionCaches, type AutoSubscriptionCaches } from "./auto-subscription/caches.ts";
import type { Caches } from "./caches.ts";
import { accountsOfSource } from "./configured/secret-props.ts";
import { keyOf } from "./controller/informer.ts";
import { ResourceIndex } from "./controller/resource-index.ts";
import { ofValid } from "./controller/skip-invalid.ts";
import { workflowCaches, type WorkflowCaches } from "./workflow/caches.ts";
import { componentNameOf } from "./source/observe/component-of.ts";

/** Keys of the resources to reconcile when another resource changes, by an index over the caches. */
export interface Dependents {
  /** Sources that run the component. */
  sourcesRunning(component: Resource): readonly string[];
  /** Sources with the account in a prop. */
  sourcesUsing(account: Resource): readonly string[];
  /** Accounts that were connected by the OAuth client. */
  accountsBy(client: OAuthClientResource): readonly string[];
  /** Subscriptions that name the source, workflow or webhook, by id or by reference. */
  subscriptionsOf(end: Resource): readonly string[];
  /** The same for all sources, workflows and webhooks of a namespace. */
  subscriptionsOfNamespace(namespace: string): readonly string[];
  readonly autoSubscriptions: AutoSubscriptionCaches;
  readonly workflows: WorkflowCaches;
}

/** Call it before reconcilers watch the caches: callbacks run in the order of registration, and passes need current indices. */
export function indexDependents(caches: Caches): Dependents {
  const { sources, workflows, webhooks, subscriptions, accounts } = caches;
  const byComponent = new ResourceIndex(
    sources,
    ofValid((source) => `${source.metadata.namespace}/${componentNameOf(source)}`),
  );
  const byAccount = new ResourceIndex(
    sources,
    ofValid((source) => accountsOfSource(source).map((id) => `${source.metadata.namespace} ${id}`)),
  );
  const byClient = new ResourceIndex(
    accounts,
    ofValid(({ spec }) => spec.connection?.client),
  );
  const byEnd = new ResourceIndex(
    subscriptions,
    ofValid(({ metadata: { namespace }, spec }) => [
      ...[spec.emitter, spec.listener].filter((id) => id !== undefined),
      ...[spec.emitterRef, spec.listenerRef].filter((ref) => ref !== undefined).map(({ kind, name }) => `${kind} ${namespace}/${name}`),
    ]),
  );
  const subscriptionsOf = (end: Resource): readonly string[] => [
    ...byEnd.keys(end.metadata.labels[labels.id] ?? ""),
    ...byEnd.keys(`${end.kind} ${keyOf(end)}`),
  ];
  return {
    sourcesRunning: (component) => byComponent.keys(keyOf(component)),
    sourcesUsing: ({ metadata: { namespace, name, labels: given } }) =>
      [given[labels.id], idOfResourceName(name)].flatMap((id) => (id === undefined ? [] : byAccount.keys(`${namespace} ${id}`))),
    accountsBy: ({ status }) => (status.id === undefined ? [] : byClient.keys(status.id)),
    subscriptionsOf,
    subscriptionsOfNamespace: (namespace) =>
      [...sources.values(), ...webhooks.values(), ...workflows.values()]
        .filter(({ metadata }) => metadata.namespace === namespace)
        .flatMap(subscriptionsOf),
    workflows: workflowCaches(caches),
    autoSubscriptions: autoSubscriptionCaches(caches.autoSubscriptions, subscriptions, { sources, workflows }),
  };
}

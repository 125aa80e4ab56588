import { accountKind } from "../crds/account.ts";
import type { ConfiguredOptions, ConfiguredProps } from "../domain/component/configure.ts";
import { autoSubscriptionKind } from "../crds/auto-subscription.ts";
import { componentKind } from "../crds/component.ts";
import { labels, type Resource } from "../crds/resource.ts";
import { sourceKind } from "../crds/source.ts";
import { subscriptionKind } from "../crds/subscription.ts";
import { webhookKind } from "../crds/webhook.ts";
import { workflowKind } from "../crds/workflow.ts";
import { accountReconciler } from "./account/reconciler.ts";
import { accountIdsAmong } from "../domain/component/account-props.ts";
import { idOfResourceName } from "../domain/ids.ts";
import { autoSubscriptionCaches } from "./auto-subscription/caches.ts";
import { emitterReconciler } from "./auto-subscription/emitter-reconciler.ts";
import { autoSubscriptionReconciler } from "./auto-subscription/reconciler.ts";
import { componentReconciler } from "./component/reconciler.ts";
import { Configurator, type ConfigureRequest } from "./configure/configurator.ts";
import { keyOf } from "./controller/informer.ts";
import { skipInvalid, ofValid } from "./controller/skip-invalid.ts";
import { endConnectionsOf } from "./end-connections.ts";
import { ResourceIndex } from "./controller/resource-index.ts";
import { Runtime, type RuntimeOptions } from "./controller/runtime.ts";
import type { OperatorConfig, OperatorPorts } from "./ports.ts";
import { watchRunnerPools, type RunnerPools } from "./runner-pool/start.ts";
import { activityReconciler } from "./source/observe/activity.ts";
import { componentNameOf } from "./source/observe/component-of.ts";
import { sourceReconciler } from "./source/reconciler.ts";
import { Slugs } from "./source/apply/slugs.ts";
import { subscriptionReconciler } from "./subscription/reconciler.ts";
import { disabledReconciler } from "./webhook/disabled.ts";
import { webhookReconciler } from "./webhook/reconciler.ts";
import { SigningKeys } from "./webhook/signing-keys.ts";
import { workflowReconciler } from "./workflow/reconciler.ts";

export interface OperatorRuntime extends Pick<RuntimeOptions, "leadership" | "metrics" | "onLead" | "resyncMs" | "onCache"> {
  /** Registers a callback for namespaces whose owner was set, removed or changed. */
  readonly onOwnerChange?: (changed: (namespace: string) => void) => void;
  /** Set if the operator also manages runner pods. */
  readonly runnerPools?: RunnerPools;
}

export interface StartedOperator {
  /** Calls a component for a user who configures it, see configure/configure.ts. */
  configure(request: ConfigureRequest): Promise<ConfiguredOptions | ConfiguredProps>;
  /** Are all caches filled? */
  readonly hasSynced: boolean;
  /** True when nothing is queued or running. */
  readonly idle: boolean;
  stop(): Promise<void>;
}

/** Starts the operator: all watches and reconcilers. @throws Unavailable when the resources cannot be listed */
export async function startOperator(
  config: OperatorConfig,
  { store, ...others }: OperatorPorts,
  options: OperatorRuntime = {},
): Promise<StartedOperator> {
  const runtime = new Runtime({ ...options, store, random: others.random, log: others.log });
  const { runnerPools } = options;
  const pools = runnerPools === undefined ? others.pools : watchRunnerPools(runtime, runnerPools, { ...others, store: runtime.store });
  const ports = { ...others, pools, store: runtime.store };
  const slugs = new Slugs();
  const signingKeys = new SigningKeys(ports);

  // Caches and their indices. Callbacks run in this order: indices before the reconcilers that use them.
  const components = runtime.cache(componentKind);
  const sources = runtime.cache(sourceKind);
  const subscriptions = runtime.cache(subscriptionKind);
  const webhooks = runtime.cache(webhookKind);
  const workflows = runtime.cache(workflowKind);
  const accounts = runtime.cache(accountKind);
  const autoSubscriptions = runtime.cache(autoSubscriptionKind);
  const sourcesByComponent = new ResourceIndex(
    sources,
    ofValid((source) => `${source.metadata.namespace}/${componentNameOf(source)}`),
  );
  const auto = autoSubscriptionCaches(autoSubscriptions, subscriptions, { sources, workflows });
  const subscriptionsByEnd = new ResourceIndex(
    subscriptions,
    ofValid(({ metadata: { namespace }, spec }) => [
      ...[spec.emitter, spec.listener].filter((id) => id !== undefined),
      ...[spec.emitterRef, spec.listenerRef].filter((ref) => ref !== undefined).map(({ kind, name }) => `${kind} ${namespace}/${name}`),
    ]),
  );
  const endsIn = (namespace: string): Resource[] =>
    [...sources.values(), ...webhooks.values(), ...workflows.values()].filter(({ metadata }) => metadata.namespace === namespace);
  const subscriptionsOf = (end: Resource) => [
    ...subscriptionsByEnd.keys(end.metadata.labels[labels.id] ?? ""),
    ...subscriptionsByEnd.keys(`${end.kind} ${keyOf(end)}`),
  ];
  const sourcesByAccount = new ResourceIndex(
    sources,
    ofValid(({ metadata: { namespace }, spec, status }) =>
      [spec.props, status.running?.props ?? {}].flatMap(accountIdsAmong).map((id) => `${namespace} ${id}`),
    ),
  );
  const sourcesUsing = ({ metadata: { namespace, name, labels: given } }: Resource) =>
    [given[labels.id], idOfResourceName(name)].flatMap((id) => (id === undefined ? [] : sourcesByAccount.keys(`${namespace} ${id}`)));
  sources.onChange((source, deleted) => (deleted ? slugs.release(source) : slugs.remember(source)));
  webhooks.onChange((webhook, deleted) => void (deleted && signingKeys.forget(webhook)));

  const endConnections = endConnectionsOf(ports, { subscriptionsOf, autoSubscriptionsTo: auto.listeningTo });

  // Reconcilers, named after their kind's folder, with their concurrency and what else they depend on.
  runtime.reconcile("component", 4, skipInvalid(componentKind, ports, componentReconciler(ports))).watch(components);
  const sourceController = runtime
    .reconcile("source", 32, skipInvalid(sourceKind, ports, sourceReconciler(config, ports, slugs, endConnections)))
    .watch(sources)
    .watch(components, (component) => sourcesByComponent.keys(keyOf(component)))
    .watch(accounts, sourcesUsing);
  runtime
    .reconcile("activity", 1, activityReconciler(ports, { sources: () => sources.values(), component: (key) => components.get(key) }))
    .always("all");
  const subscriptionController = runtime
    .reconcile("subscription", 16, skipInvalid(subscriptionKind, ports, subscriptionReconciler(ports, signingKeys, config)))
    .watch(subscriptions)
    .watch(webhooks, subscriptionsOf)
    .watch(workflows, subscriptionsOf)
    .watch(sources, subscriptionsOf);
  signingKeys.onChange((webhook) => {
    for (const key of subscriptionsOf(webhook)) subscriptionController.add(key);
  });
  runtime
    .reconcile("webhook", 8, skipInvalid(webhookKind, ports, webhookReconciler(config, ports, signingKeys, endConnections)))
    .watch(webhooks);
  runtime.reconcile("disabled-webhook", 1, disabledReconciler(ports)).always("all");
  const onAccountChange = (account: Resource): void => {
    for (const key of sourcesUsing(account)) sourceController.add(key);
  };
  const reconcileAccount = accountReconciler(ports, { ...config, onChange: onAccountChange });
  runtime.reconcile("account", 4, skipInvalid(accountKind, ports, reconcileAccount)).watch(accounts);
  runtime.reconcile("workflow", 4, skipInvalid(workflowKind, ports, workflowReconciler(ports, endConnections))).watch(workflows);
  runtime
    .reconcile("auto-subscription", 4, skipInvalid(autoSubscriptionKind, ports, autoSubscriptionReconciler(ports, auto)))
    .watch(autoSubscriptions)
    .watch(webhooks, auto.listeningTo)
    .watch(workflows, auto.listeningTo)
    .watch(sources, auto.listeningTo);
  runtime
    .reconcile("auto-subscription-source", 8, emitterReconciler(ports, sourceKind, auto))
    .watch(sources)
    .watch(autoSubscriptions, auto.newlyCovered("sources"));
  runtime
    .reconcile("auto-subscription-workflow", 8, emitterReconciler(ports, workflowKind, auto))
    .watch(workflows)
    .watch(autoSubscriptions, auto.newlyCovered("workflows"));

  options.onOwnerChange?.((namespace) => {
    runtime.requeueNamespace(namespace);
    // Other owners may have subscribed to these resources by id.
    for (const key of endsIn(namespace).flatMap(subscriptionsOf)) subscriptionController.add(key);
  });
  await runtime.start();
  const configurator = new Configurator({ ...ports, store });
  return {
    configure: (request) => configurator.answer(request),
    get hasSynced() {
      return runtime.hasSynced;
    },
    get idle() {
      return runtime.idle;
    },
    stop: () => runtime.stop(),
  };
}

import { accountKind, type AccountResource } from "../crds/account.ts";
import { dataStoreKind } from "../crds/data-store.ts";
import { appKind } from "../crds/app.ts";
import { oauthClientKind } from "../crds/oauth-client.ts";
import type { SecretReference } from "../crds/secret-reference.ts";
import { autoSubscriptionKind } from "../crds/auto-subscription.ts";
import { componentKind } from "../crds/component.ts";
import type { Kind } from "../crds/resource.ts";
import { sourceKind } from "../crds/source.ts";
import { subscriptionKind } from "../crds/subscription.ts";
import { variableKind } from "../crds/variable.ts";
import { webhookKind } from "../crds/webhook.ts";
import { workflowKind } from "../crds/workflow.ts";
import type { ConfiguredOptions, ConfiguredProps } from "../domain/component/configure.ts";
import type { CodeExchange, ExchangeResult } from "../domain/connection/connection.ts";
import { exchangeCode, revokeAccount } from "./account/connect.ts";
import { accountReconciler } from "./account/reconciler.ts";
import { dataStoreReconciler } from "./data-store/reconciler.ts";
import { emitterReconciler } from "./auto-subscription/emitter-reconciler.ts";
import { appReconciler } from "./app/reconciler.ts";
import { oauthClientReconciler } from "./oauth-client/reconciler.ts";
import { autoSubscriptionReconciler } from "./auto-subscription/reconciler.ts";
import { openCaches, type Caches } from "./caches.ts";
import { bundleSweeper } from "./component/bundle-sweep.ts";
import { componentReconciler } from "./component/reconciler.ts";
import type { Deployment } from "../domain/source/deployment.ts";
import type { StepDeployment } from "../domain/workflow/deployment.ts";
import { Configurator, type ConfigureRequest } from "./configure/configurator.ts";
import { sealSourceDraft, type SourceDraftRequest } from "./configure/source-draft.ts";
import { sealDraft, type DraftRequest } from "./workflow/draft.ts";
import { cachedLists } from "./controller/cached-lists.ts";
import type { Controller, Reconcile } from "./controller/controller.ts";
import { Runtime, type RuntimeOptions } from "./controller/runtime.ts";
import { fileSweeper } from "./file-sweep.ts";
import { historySweeper } from "./history-sweep.ts";
import { idKindOf } from "./identity.ts";
import { skipInvalid } from "./controller/skip-invalid.ts";
import type { AnyStatus } from "./controller/status.ts";
import { healthReconciler } from "./health/refresh-health.ts";
import { indexDependents, type Dependents } from "./dependents.ts";
import { endConnectionsOf } from "./end-connections.ts";
import type { OperatorConfig, OperatorPorts } from "./ports.ts";
import { watchRunnerPools, type RunnerPools } from "./runner-pool/start.ts";
import { Slugs } from "./source/slugs.ts";
import { activityReconciler } from "./source/activity.ts";
import { sourceReconciler } from "./source/reconciler.ts";
import { subscriptionReconciler } from "./subscription/reconciler.ts";
import { disabledReconciler } from "./webhook/disabled.ts";
import { webhookReconciler } from "./webhook/reconciler.ts";
import { SigningKeys } from "./webhook/signing-keys.ts";
import { VariableEntries } from "./variable/entries.ts";
import { variableEntriesReconciler, variableReconciler } from "./variable/reconciler.ts";
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
  /** Seals the steps of a draft for the pool that tests it. */
  sealDraft(request: DraftRequest): Promise<readonly StepDeployment[]>;
  /** The same for a source. */
  sealSourceDraft(request: SourceDraftRequest): Promise<Deployment>;
  /** Exchanges a code for tokens of an account, see account/connect.ts. */
  exchangeCode(request: CodeExchange): Promise<ExchangeResult<SecretReference>>;
  /** Revokes an account's tokens at the service; returns whether it has accepted that. */
  revokeAccount(account: { readonly namespace: string; readonly account: string }): Promise<boolean>;
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
  const { runnerPools, onOwnerChange } = options;
  const pools = runnerPools === undefined ? others.pools : watchRunnerPools(runtime, runnerPools, { ...others, store: runtime.store });
  const ports = { ...others, pools, store: runtime.store };
  watchKinds(runtime, config, ports, { ...ports, store }, onOwnerChange);
  await runtime.start();
  const configurator = new Configurator({ ...ports, store });
  return {
    configure: (request) => configurator.answer(request),
    exchangeCode: (request) => exchangeCode(request, { ...ports, store }),
    revokeAccount: async ({ namespace, account }) => revokeAccount(await store.get(accountKind, namespace, account), { ...ports, store }),
    sealDraft: (request) => sealDraft(request, { ...ports, store }),
    sealSourceDraft: (request) => sealSourceDraft(request, { ...ports, store }),
    get hasSynced() {
      return runtime.hasSynced;
    },
    get idle() {
      return runtime.idle;
    },
    stop: () => runtime.stop(),
  };
}

/**
 * What is watched, by which reconciler: the table of the operator. A row has the controller's name, its concurrent passes, and the caches
 * whose changes request a pass, with the keys that a change of another kind concerns.
 * @param live without caches
 */
function watchKinds(
  runtime: Runtime,
  config: OperatorConfig,
  ports: OperatorPorts,
  live: OperatorPorts,
  onOwnerChange: OperatorRuntime["onOwnerChange"],
): void {
  const caches = openCaches(runtime);
  const { components, sources, subscriptions, webhooks, workflows, accounts, variables, autoSubscriptions, apps, oauthClients } = caches;
  const dependents = indexDependents(caches);
  const { sourcesRunning, sourcesUsing, subscriptionsOf, autoSubscriptions: auto, workflows: flows } = dependents;
  const slugs = slugsOf(caches);
  const signingKeys = signingKeysOf(ports, caches);
  const entries = new VariableEntries(ports, caches);
  const endConnections = endConnectionsOf(ports, { subscriptionsOf, autoSubscriptionsTo: auto.listeningTo });
  const row = <S, T extends AnyStatus>(name: string, passes: number, kind: Kind<S, T>, reconcile: Reconcile): Controller => {
    const idKind = idKindOf(kind);
    const newId = idKind === undefined ? undefined : () => ports.newId(idKind);
    return runtime.reconcile(name, passes, skipInvalid(kind, { ...ports, newId }, reconcile));
  };

  row("component", 4, componentKind, componentReconciler(ports)).watch(components);
  row("source", 32, sourceKind, sourceReconciler(config, ports, slugs, endConnections))
    .watch(sources)
    .watch(components, sourcesRunning)
    .watch(accounts, sourcesUsing);
  row("subscription", 16, subscriptionKind, subscriptionReconciler(ports, signingKeys, config))
    .watch(subscriptions)
    .watch(webhooks, subscriptionsOf)
    .watch(workflows, subscriptionsOf)
    .watch(sources, subscriptionsOf);
  row("webhook", 8, webhookKind, webhookReconciler(config, ports, signingKeys, endConnections)).watch(webhooks);
  const onCredentials = (account: AccountResource): void => {
    runtime.requeue("source", sourcesUsing(account));
    runtime.requeue("workflow", flows.using(account));
  };
  const accountPorts = { ...ports, apps: ports.apps.from(cachedLists([apps, oauthClients])) };
  row("account", 4, accountKind, accountReconciler(accountPorts, { ...config, onChange: onCredentials, live }))
    .watch(accounts)
    .watch(oauthClients, dependents.accountsBy);
  row("app", 2, appKind, appReconciler(ports)).watch(apps);
  row("oauth-client", 2, oauthClientKind, oauthClientReconciler(ports, config)).watch(oauthClients);
  row("data-store", 2, dataStoreKind, dataStoreReconciler(ports)).watch(caches.dataStores);
  row("workflow", 16, workflowKind, workflowReconciler(config, ports, { ...flows, variables: entries }, endConnections))
    .watch(workflows)
    .watch(components, flows.running)
    .watch(accounts, flows.using)
    .watch(sources, flows.triggeredBy)
    .watch(subscriptions, flows.connectedBy);
  row("variable", 4, variableKind, variableReconciler(ports, entries, config)).watch(variables, (changed) => entries.concernedBy(changed));
  row("auto-subscription", 4, autoSubscriptionKind, autoSubscriptionReconciler(ports, auto))
    .watch(autoSubscriptions)
    .watch(webhooks, auto.listeningTo)
    .watch(workflows, auto.listeningTo)
    .watch(sources, auto.listeningTo);
  watchEmitters(runtime, ports, caches, auto);
  watchPeriodically(runtime, ports, caches, entries);

  signingKeys.onChange((webhook) => runtime.requeue("subscription", subscriptionsOf(webhook)));
  onOwnerChange?.((namespace) => {
    runtime.requeueNamespace(namespace);
    // Other owners may have subscribed to these resources by id.
    runtime.requeue("subscription", dependents.subscriptionsOfNamespace(namespace));
  });
}

/** A spec is not read here, so invalid emitters are subscribed too. */
function watchEmitters(
  runtime: Runtime,
  ports: OperatorPorts,
  { sources, workflows, autoSubscriptions }: Caches,
  auto: Dependents["autoSubscriptions"],
): void {
  runtime
    .reconcile("auto-subscription-source", 8, emitterReconciler(ports, sourceKind, auto))
    .watch(sources)
    .watch(autoSubscriptions, auto.newlyCovered("sources"));
  runtime
    .reconcile("auto-subscription-workflow", 8, emitterReconciler(ports, workflowKind, auto))
    .watch(workflows)
    .watch(autoSubscriptions, auto.newlyCovered("workflows"));
}

/** One pass for all resources. */
function watchPeriodically(
  runtime: Runtime,
  ports: OperatorPorts,
  { components, sources, webhooks, workflows }: Caches,
  entries: VariableEntries,
): void {
  const activity = { sources: () => sources.values(), component: (key: string) => components.get(key) };
  runtime.reconcile("activity", 1, activityReconciler(ports, activity)).always("all");
  const watched = { webhooks: () => webhooks.values(), workflows: () => workflows.values() };
  runtime.reconcile("health", 1, healthReconciler(ports, watched)).always("all");
  runtime.reconcile("disabled-webhook", 1, disabledReconciler(ports)).always("all");
  runtime.reconcile("history", 1, historySweeper(ports, [sources, workflows])).always("all");
  runtime.reconcile("files", 1, fileSweeper(ports)).always("all");
  runtime.reconcile("bundle", 1, bundleSweeper(ports, components)).always("all");
  runtime.reconcile("variable-entries", 1, variableEntriesReconciler(entries)).always("all");
  entries.onSharedChange(() => runtime.requeue("variable-entries", ["all"]));
}

function slugsOf({ sources }: Pick<Caches, "sources">): Slugs {
  const slugs = new Slugs();
  sources.onChange((source, deleted) => (deleted ? slugs.release(source) : slugs.remember(source)));
  return slugs;
}

function signingKeysOf(ports: OperatorPorts, { webhooks }: Pick<Caches, "webhooks">): SigningKeys {
  const signingKeys = new SigningKeys(ports);
  webhooks.onChange((webhook, deleted) => void (deleted && signingKeys.forget(webhook)));
  return signingKeys;
}

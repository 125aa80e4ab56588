import { setImmediate } from "node:timers/promises";
import { AppLibrary } from "../crds/app-library.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import { autoSubscriptionKind, type AutoSubscriptionSpec, type AutoSubscriptionStatus } from "../crds/auto-subscription.ts";
import { componentKind, type ComponentSpec, type ComponentStatus } from "../crds/component.ts";
import { sourceKind, type SourceSpec, type SourceStatus } from "../crds/source.ts";
import { workflowKind, type WorkflowSpec, type WorkflowStatus } from "../crds/workflow.ts";
import { subscriptionKind, type SubscriptionSpec, type SubscriptionStatus } from "../crds/subscription.ts";
import { variableKind, type VariableSpec, type VariableStatus } from "../crds/variable.ts";
import type { ApiConfig } from "./config.ts";
import { Registry } from "./resources/library/registry.ts";
import type { ApiPorts } from "./ports.ts";
import { Access } from "./resources/access.ts";
import { Components } from "./resources/components.ts";
import { ResourceWatch } from "./resources/watch/resource-watch.ts";
import { Streams } from "./streams/streams.ts";
import type { Call } from "./http/request/call.ts";
import { FairSemaphore } from "../domain/limits/fair-semaphore.ts";
import { Budget } from "../domain/limits/budget.ts";
import { SharedRate } from "../domain/limits/shared-rate.ts";
import { Turns } from "../domain/limits/turns.ts";
import { liveBounds } from "./streams/live-bounds.ts";
import { operationsOf, type Operation } from "./http/routing/operation.ts";
import { limitStorage } from "./resources/storage-quota.ts";
import { StartedRuns } from "./resources/started-runs.ts";

/** Dependencies of all operations. */
export interface ApiContext {
  readonly config: ApiConfig;
  readonly ports: ApiPorts;
  /** Creates again what was deleted a moment ago: others may have taken its room, but it must not be lost. */
  readonly restore: ResourceStore["create"];
  readonly access: Access;
  readonly apps: AppLibrary;
  readonly components: Components;
  readonly registry: Registry;
  readonly sources: ResourceWatch<SourceSpec, SourceStatus>;
  readonly workflows: ResourceWatch<WorkflowSpec, WorkflowStatus>;
  readonly subscriptions: ResourceWatch<SubscriptionSpec, SubscriptionStatus>;
  readonly autoSubscriptions: ResourceWatch<AutoSubscriptionSpec, AutoSubscriptionStatus>;
  readonly variables: ResourceWatch<VariableSpec, VariableStatus>;
  readonly streams: Streams;
  readonly startedRuns: StartedRuns;
  /** Permits of searches, by user. */
  readonly searches: FairSemaphore;
  /** Permits of reading what runs are debugged with, by user. */
  readonly debugging: FairSemaphore;
  /** What all live searches share. */
  readonly live: {
    readonly gaps: FairSemaphore;
    readonly rate: SharedRate;
    readonly turns: Turns;
    readonly pending: Budget;
  };
}

export type ApiOperation = Operation<Call, ApiContext>;

/** Each uses a connection to Postgres, of which there are ten. */
const searchPermits = { permits: 4, permitsPerKey: 2 } as const;

/** Each holds a bundle and its source map in memory. */
const debuggingPermits = { permits: 2, permitsPerKey: 1 } as const;

/** Declares an operation of `/v1`. */
export const operation = operationsOf<Call, ApiContext>();

export async function startContext(config: ApiConfig, given: ApiPorts): Promise<ApiContext & { stop(): Promise<void> }> {
  const ports = { ...given, store: limitStorage(given.store, given.storedUse, given.owners, config.storage) };
  const { store, log } = ports;
  const watches = {
    components: new ResourceWatch<ComponentSpec, ComponentStatus>(store, componentKind, log),
    sources: new ResourceWatch<SourceSpec, SourceStatus>(store, sourceKind, log),
    workflows: new ResourceWatch<WorkflowSpec, WorkflowStatus>(store, workflowKind, log),
    subscriptions: new ResourceWatch<SubscriptionSpec, SubscriptionStatus>(store, subscriptionKind, log),
    autoSubscriptions: new ResourceWatch<AutoSubscriptionSpec, AutoSubscriptionStatus>(store, autoSubscriptionKind, log),
    variables: new ResourceWatch<VariableSpec, VariableStatus>(store, variableKind, log),
  };
  const components = new Components(ports, config, watches.components);
  for (const watch of Object.values(watches)) await watch.start();
  const streams = new Streams(ports, ports.streams, config);
  return {
    config,
    ports,
    restore: (kind, resource) => given.store.create(kind, resource),
    access: new Access(ports),
    apps: new AppLibrary({ store, builtIn: ports.builtInApps, sharedNamespace: () => sharedNamespaceOf(config, ports) }),
    components,
    registry: new Registry(ports.published, ports.publications),
    sources: watches.sources,
    workflows: watches.workflows,
    subscriptions: watches.subscriptions,
    autoSubscriptions: watches.autoSubscriptions,
    variables: watches.variables,
    streams,
    startedRuns: new StartedRuns(),
    searches: new FairSemaphore(searchPermits),
    debugging: new FairSemaphore(debuggingPermits),
    live: {
      gaps: new FairSemaphore(liveBounds.gaps),
      rate: new SharedRate(liveBounds.comparisons),
      turns: new Turns(liveBounds.costPerTurn, () => setImmediate()),
      pending: new Budget(liveBounds.pending),
    },
    stop: async () => {
      await streams.stop();
      await Promise.all(Object.values(watches).map((watch) => watch.stop()));
    },
  };
}

const sharedNamespaceOf = async ({ sharedAppsOwner }: ApiConfig, { owners }: Pick<ApiPorts, "owners">): Promise<string | undefined> =>
  sharedAppsOwner === undefined ? undefined : owners.find(sharedAppsOwner);

import { autoSubscriptionKind, type AutoSubscriptionSpec, type AutoSubscriptionStatus } from "../crds/auto-subscription.ts";
import { componentKind, type ComponentSpec, type ComponentStatus } from "../crds/component.ts";
import { sourceKind, type SourceSpec, type SourceStatus } from "../crds/source.ts";
import { subscriptionKind, type SubscriptionSpec, type SubscriptionStatus } from "../crds/subscription.ts";
import type { ApiConfig } from "./config.ts";
import type { Registry } from "./components/ports.ts";
import { createRegistry } from "./components/registry.ts";
import type { ApiPorts } from "./ports.ts";
import { Access } from "./resources/access.ts";
import { Components } from "./resources/components.ts";
import { ResourceWatch } from "./resources/watch/resource-watch.ts";
import { Streams } from "./streams/streams.ts";

/** Dependencies of all routes. */
export interface ApiContext {
  readonly config: ApiConfig;
  readonly ports: ApiPorts;
  readonly access: Access;
  readonly components: Components;
  readonly registry: Registry;
  readonly sources: ResourceWatch<SourceSpec, SourceStatus>;
  readonly subscriptions: ResourceWatch<SubscriptionSpec, SubscriptionStatus>;
  readonly autoSubscriptions: ResourceWatch<AutoSubscriptionSpec, AutoSubscriptionStatus>;
  readonly streams: Streams;
}

export async function startContext(config: ApiConfig, ports: ApiPorts): Promise<ApiContext & { stop(): Promise<void> }> {
  const { store, log } = ports;
  const watches = {
    components: new ResourceWatch<ComponentSpec, ComponentStatus>(store, componentKind, log),
    sources: new ResourceWatch<SourceSpec, SourceStatus>(store, sourceKind, log),
    subscriptions: new ResourceWatch<SubscriptionSpec, SubscriptionStatus>(store, subscriptionKind, log),
    autoSubscriptions: new ResourceWatch<AutoSubscriptionSpec, AutoSubscriptionStatus>(store, autoSubscriptionKind, log),
  };
  const components = new Components(ports, config, watches.components);
  for (const watch of Object.values(watches)) await watch.start();
  const streams = new Streams(ports, ports.streams, config.streamsPerKey);
  return {
    config,
    ports,
    access: new Access(ports),
    components,
    registry: createRegistry(ports.published),
    sources: watches.sources,
    subscriptions: watches.subscriptions,
    autoSubscriptions: watches.autoSubscriptions,
    streams,
    stop: async () => {
      await streams.stop();
      await Promise.all(Object.values(watches).map((watch) => watch.stop()));
    },
  };
}

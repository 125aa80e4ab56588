import { labels, type Resource } from "../../crds/resource.ts";
import type { AutoSubscriptionSpec, AutoSubscriptionStatus, AutoSubscriptionResource } from "../../crds/auto-subscription.ts";
import { keyOf, type Informer } from "../controller/informer.ts";
import { ofValid } from "../controller/skip-invalid.ts";
import { ResourceIndex } from "../controller/resource-index.ts";
import { madeBy, madeForEmitter, type AutoSubscriptionLookup } from "./made.ts";

export interface AutoSubscriptionCaches extends AutoSubscriptionLookup {
  /** Keys of the AutoSubscriptions with this listener. */
  readonly listeningTo: (listener: Resource) => Iterable<string>;
  /** Keys of the emitters in its namespace, when the set that it covers has changed. */
  readonly newlyCovered: (emitters: "sources" | "workflows") => (auto: AutoSubscriptionResource) => Iterable<string>;
}

/** Indexed lookups of AutoSubscriptions. */
export function autoSubscriptionCaches<S, T, SS, ST, WS, WT>(
  autos: Informer<AutoSubscriptionSpec, AutoSubscriptionStatus>,
  subscriptions: Informer<S, T>,
  emitters: { readonly sources: Informer<SS, ST>; readonly workflows: Informer<WS, WT> },
): AutoSubscriptionCaches {
  const namespaceOf = ({ metadata }: Resource): string => metadata.namespace;
  const byNamespace = new ResourceIndex(autos, namespaceOf);
  const byListener = new ResourceIndex(
    autos,
    ofValid(({ metadata, spec: { listener, listenerRef } }) =>
      listenerRef === undefined ? listener : `${listenerRef.kind} ${metadata.namespace}/${listenerRef.name}`,
    ),
  );
  const byMaker = new ResourceIndex(subscriptions, ({ metadata }) => metadata.labels[madeBy]);
  const byEmitter = new ResourceIndex(subscriptions, ({ metadata }) => metadata.annotations[madeForEmitter]);
  const inNamespace = {
    sources: new ResourceIndex(emitters.sources, namespaceOf),
    workflows: new ResourceIndex(emitters.workflows, namespaceOf),
  };
  const covered = { sources: new Map<string, string>(), workflows: new Map<string, string>() };
  return {
    inNamespace: (namespace) => byNamespace.keys(namespace).flatMap((key) => autos.get(key) ?? []),
    countOf: (uid) => byMaker.keys(uid).length,
    madeFor: (emitter) => byEmitter.keys(emitter),
    listeningTo: (listener) => [
      ...byListener.keys(listener.metadata.labels[labels.id] ?? ""),
      ...byListener.keys(`${listener.kind} ${keyOf(listener)}`),
    ],
    newlyCovered: (kind) => (auto) => {
      // The status also changes with every count of its Subscriptions. Only another listener matters to emitters.
      const covers = `${auto.metadata.uid} ${auto.status.listener ?? ""}`;
      if (covered[kind].get(keyOf(auto)) === covers) return [];
      covered[kind].set(keyOf(auto), covers);
      return inNamespace[kind].keys(auto.metadata.namespace);
    },
  };
}

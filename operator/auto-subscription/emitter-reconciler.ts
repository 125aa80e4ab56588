import type { Kind, Resource } from "../../crds/resource.ts";
import { autoSubscriptionKind, madeSubscriptionName, type AutoSubscriptionResource } from "../../crds/auto-subscription.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { Conflict } from "../../domain/errors.ts";
import { parseKey } from "../controller/informer.ts";
import { ownedBy } from "../controller/ownership.ts";
import type { OperatorPorts } from "../ports.ts";
import { covers, madeBy, madeForEmitter, subscribedBy, subscribersOf, type AutoSubscriptionLookup, endSubscription } from "./made.ts";

interface Identified {
  readonly id?: string | undefined;
}

/**
 * Subscribes an emitter once for each AutoSubscription that covers it: a Subscription that a user deletes stays deleted. Subscriptions made
 * for an emitter are deleted with it.
 */
export function emitterReconciler<S, T extends Identified>(ports: OperatorPorts, kind: Kind<S, T>, lookup: AutoSubscriptionLookup) {
  return async (key: string): Promise<undefined> => {
    const { namespace, name } = parseKey(key);
    const emitter = await ports.store.find(kind, namespace, name);
    if (emitter === undefined || emitter.metadata.deletionTimestamp !== undefined) {
      for (const made of lookup.madeFor(`${kind.kind} ${key}`)) await endSubscription(made, ports);
      return;
    }
    const covering = [...lookup.inNamespace(namespace)].filter((auto) => covers(auto, emitter));
    if (emitter.status.id === undefined || covering.length === 0) return;
    for (const auto of covering) await subscribe(auto, emitter, emitter.status.id, ports);
    await remember(kind, emitter, covering, lookup, ports);
  };
}

async function subscribe(auto: AutoSubscriptionResource, emitter: Resource, id: string, ports: OperatorPorts): Promise<void> {
  const { namespace, name } = auto.metadata;
  const made = { namespace, name: madeSubscriptionName(name, id) };
  await ports.store
    .create(subscriptionKind, {
      ...made,
      labels: { [madeBy]: auto.metadata.uid },
      annotations: { [madeForEmitter]: `${emitter.kind} ${emitter.metadata.namespace}/${emitter.metadata.name}` },
      ownerReferences: [ownedBy(auto)],
      spec: { emitter: id, listener: auto.status.listener ?? "", channel: auto.spec.channel },
    })
    .catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error;
    });
  // An AutoSubscription deleted in the meantime may have listed its Subscriptions just before this one was created.
  const now = await ports.store.find(autoSubscriptionKind, namespace, name);
  if (now?.metadata.uid !== auto.metadata.uid || now.metadata.deletionTimestamp !== undefined)
    await endSubscription(`${namespace}/${made.name}`, ports);
}

/** Records the AutoSubscriptions that have subscribed the emitter, and drops those that no longer exist. */
async function remember<S, T>(
  kind: Kind<S, T>,
  emitter: Resource<S, T>,
  covering: readonly AutoSubscriptionResource[],
  lookup: AutoSubscriptionLookup,
  { store }: OperatorPorts,
): Promise<void> {
  const { metadata } = emitter;
  const existing = new Set([...lookup.inNamespace(metadata.namespace)].map((auto) => auto.metadata.uid));
  const uids = [...subscribersOf(emitter).filter((uid) => existing.has(uid)), ...covering.map((auto) => auto.metadata.uid)];
  const annotations = { ...metadata.annotations, [subscribedBy]: uids.join(",") };
  await store.update(kind, { ...emitter, metadata: { ...metadata, annotations } });
}

import { autoSubscriptionKind, type AutoSubscriptionResource } from "../../crds/auto-subscription.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { keyOf, parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf, namespaceHasNoOwner } from "../identity.ts";
import { ownerRetryMs } from "../polling.ts";
import type { OperatorPorts } from "../ports.ts";
import { listenerEndOf } from "../subscription/ends.ts";
import { notFound } from "../subscription/plan.ts";
import { reaches, reachOf } from "../reach.ts";
import { madeBy, type AutoSubscriptionLookup, endSubscription } from "./made.ts";

/** How often its Subscriptions are counted. The status is written only when the number changes. */
const countIntervalMs = 30_000;

/** Resolves the listener of an AutoSubscription, records since when it applies, and deletes its Subscriptions when it is deleted. */
export function autoSubscriptionReconciler(ports: OperatorPorts, lookup: AutoSubscriptionLookup) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(autoSubscriptionKind, namespace, name);
    if (found === undefined) return;
    if (found.metadata.deletionTimestamp !== undefined) return end(found, ports);
    const id = await idOf(ports, autoSubscriptionKind, found, "autoSubscription");
    const auto = await adopt(ports.store, autoSubscriptionKind, found, id);
    const owner = await ports.owners.ownerOf(namespace);
    const listener = await listenerEndOf(auto.spec, namespace, ports);
    const reach = owner === undefined ? undefined : await reachOf(owner, [listener.owner], ports.memberships);
    const isReachable = listener.found !== undefined && listener.id !== undefined && reach !== undefined && reaches(reach, listener.owner);
    const verdict =
      owner === undefined
        ? namespaceHasNoOwner(namespace)
        : isReachable
          ? {
              ready: true,
              reason: "Subscribing",
              message: `${auto.spec.channel} of each new source and workflow goes to ${listener.shown}`,
            }
          : {
              ready: false,
              transient: true,
              reason: "ListenerNotFound",
              message: `${notFound("listener", listener.shown)}; sources and workflows created before it is found are subscribed then`,
            };
    await writeStatus(ports.store, autoSubscriptionKind, auto, {
      fields: {
        id,
        since: auto.metadata.creationTimestamp,
        listener: isReachable ? listener.id : undefined,
        subscriptions: lookup.countOf(auto.metadata.uid),
      },
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    return owner === undefined ? ownerRetryMs : countIntervalMs;
  };
}

/** Deletes the Subscriptions itself: the Postgres store has no garbage collection by owner references. */
async function end(auto: AutoSubscriptionResource, { store }: OperatorPorts): Promise<number | undefined> {
  const { namespace, uid } = auto.metadata;
  const { items } = await store.list(subscriptionKind, { namespace, labels: { [madeBy]: uid } });
  for (const made of items) await endSubscription(keyOf(made), { store });
  // Subscriptions disappear after routers have dropped them, and one page may not list them all.
  if (items.length > 0) return 500;
  await release(store, autoSubscriptionKind, auto);
  return undefined;
}

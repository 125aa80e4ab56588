import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { keyOf, parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf, lookForOwnerMs, namespaceHasNoOwner } from "../identity.ts";
import type { OperatorPorts } from "../ports.ts";
import { listenerEndOf } from "../subscription/ends.ts";
import { notFound } from "../subscription/plan.ts";
import { reaches, reachOf } from "../subscription/reach.ts";
import { endSubscription } from "./end-subscription.ts";
import { madeBy, type AutoSubscriptionLookup, type AutoSubscriptionResource } from "./made.ts";

/** How often it is counted what was made; written only when that is another number. */
const countMs = 30_000;

/** Finds out whom an AutoSubscription subscribes, from when on, and takes away what it made when it ends. */
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
    const isThere = listener.found !== undefined && listener.id !== undefined && reach !== undefined && reaches(reach, listener.owner);
    const verdict =
      owner === undefined
        ? namespaceHasNoOwner(namespace)
        : isThere
          ? {
              ready: true,
              reason: "Subscribing",
              message: `${auto.spec.channel} of each new source and workflow goes to ${listener.shown}`,
            }
          : {
              ready: false,
              passing: true,
              reason: "ListenerNotFound",
              message: `${notFound("listener", listener.shown)}; what is created until it is found is subscribed then`,
            };
    await writeStatus(ports.store, autoSubscriptionKind, auto, {
      fields: {
        id,
        since: auto.metadata.creationTimestamp,
        listener: isThere ? listener.id : undefined,
        subscriptions: lookup.countOf(auto.metadata.uid),
      },
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    return owner === undefined ? lookForOwnerMs : countMs;
  };
}

/** Where owner references mean nothing, what it made would outlive it. */
async function end(auto: AutoSubscriptionResource, { store }: OperatorPorts): Promise<number | undefined> {
  const { namespace, uid } = auto.metadata;
  const { items } = await store.list(subscriptionKind, { namespace, labels: { [madeBy]: uid } });
  for (const made of items) await endSubscription(keyOf(made), { store });
  // They end once the routers have forgotten them; a page of them may not be all.
  if (items.length > 0) return 500;
  await release(store, autoSubscriptionKind, auto);
  return undefined;
}

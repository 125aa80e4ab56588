import { finalizer, labels } from "../../crds/resource.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { Unavailable } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { confirmCreated } from "../resources/change.ts";
import { untilCreated } from "../resources/watch/until-created.ts";
import type { ApiContext } from "../context.ts";
import { findForeign, findTriggerSubscription, type SubscriptionResource } from "./find.ts";
import { findOrCreate } from "./find-or-create.ts";
import { labelsOf, subscriptionId } from "./names.ts";
import type { Connected } from "./request.ts";

/**
 * Creates the owner's subscription if it does not exist, and waits until routers know it: later events are delivered.
 * @param check that both ends exist @throws what `check` throws, NotFound when it is deleted in the meantime, Unavailable
 */
export async function createSubscription(
  connected: Connected,
  owner: string,
  check: () => Promise<void>,
  context: ApiContext,
): Promise<SubscriptionResource> {
  const { config, ports, subscriptions } = context;
  const namespace = await ports.owners.ensure(owner);
  const existing = (await findTriggerSubscription(connected, context)) ?? (await findForeign(namespace, connected, context));
  if (existing !== undefined) return existing;
  const id = subscriptionId(owner, connected);
  const given = {
    name: resourceNameOf(id),
    namespace,
    spec: connected,
    labels: { ...labelsOf(connected), [labels.id]: id, [labels.owner]: owner },
    finalizers: [finalizer],
  };
  const following = subscriptions.follow(namespace, given.name);
  try {
    const created = await findOrCreate(subscriptionKind, given, subscriptions, context);
    await confirmCreated(subscriptionKind, created, check, ports.store);
    const signal = AbortSignal.timeout(config.deployTimeoutMs);
    const known = isObserved(created)
      ? created
      : await untilCreated(
          { kind: subscriptionKind, created: created, store: ports.store },
          following,
          (seen) => (isObserved(seen) ? seen : undefined),
          signal,
        );
    if (known !== undefined) return known;
    await confirmCreated(subscriptionKind, created, check, ports.store);
    throw new Unavailable(`subscription ${id} is saved, but not in effect yet: repeat the request to wait for it`, {
      code: "not_ready_in_time",
      details: { id },
    });
  } finally {
    following.end();
  }
}

/** Reasons that are temporary, because both ends exist: the operator has not seen one of them yet. */
const pendingReasons: ReadonlySet<string> = new Set(["EmitterNotFound", "ListenerNotFound"]);

/** Whether the operator has processed the subscription. An inactive listener makes it not ready, but it is in effect once the listener is. */
export function isObserved({ metadata, status }: SubscriptionResource): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  if (metadata.deletionTimestamp !== undefined || ready === undefined || ready.status === "Unknown") return false;
  return ready.observedGeneration >= metadata.generation && !pendingReasons.has(ready.reason);
}

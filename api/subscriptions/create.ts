import { finalizer, labels } from "../../crds/resource.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { Unavailable } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { confirmCreated } from "../resources/change.ts";
import { untilCreated } from "../resources/until-created.ts";
import type { ApiContext } from "../routes/context.ts";
import { findForeign, type SubscriptionResource } from "./find.ts";
import { findOrCreate } from "./find-or-create.ts";
import { labelsOf, subscriptionId } from "./names.ts";
import type { Connected } from "./request.ts";

/**
 * Makes the owner's subscription unless it is there, and waits until routers know it: what is emitted from then on is delivered.
 * @param check that both ends are there @throws whatever `check` does, NotFound when it is deleted meanwhile, Unavailable
 */
export async function createSubscription(
  wanted: Connected,
  owner: string,
  check: () => Promise<void>,
  context: ApiContext,
): Promise<SubscriptionResource> {
  const { config, ports, subscriptions } = context;
  const namespace = await ports.owners.ensure(owner);
  const foreign = await findForeign(namespace, wanted, context);
  if (foreign !== undefined) return foreign;
  const id = subscriptionId(owner, wanted);
  const given = {
    name: resourceNameOf(id),
    namespace,
    spec: wanted,
    labels: { ...labelsOf(wanted), [labels.id]: id, [labels.owner]: owner },
    finalizers: [finalizer],
  };
  const following = subscriptions.follow(namespace, given.name);
  try {
    const made = await findOrCreate(subscriptionKind, given, subscriptions, context);
    await confirmCreated(subscriptionKind, made, check, ports.store);
    const signal = AbortSignal.timeout(config.deployTimeoutMs);
    const known = isObserved(made)
      ? made
      : await untilCreated(
          { kind: subscriptionKind, created: made, store: ports.store },
          following,
          (seen) => (isObserved(seen) ? seen : undefined),
          signal,
        );
    if (known !== undefined) return known;
    await confirmCreated(subscriptionKind, made, check, ports.store);
    throw new Unavailable(`subscription ${id} is saved and not in effect yet: it will be as soon as it can`, {
      code: "not_ready_in_time",
      details: { id },
    });
  } finally {
    following.end();
  }
}

/** Both ends are there: an operator that does not find one has not been told of it yet. */
const notSeenYet: ReadonlySet<string> = new Set(["EmitterNotFound", "ListenerNotFound"]);

/** A listener that is switched off makes it not ready, which is an answer as well: it is in effect as soon as the listener is. */
export function isObserved({ metadata, status }: SubscriptionResource): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  if (metadata.deletionTimestamp !== undefined || ready === undefined || ready.status === "Unknown") return false;
  return ready.observedGeneration >= metadata.generation && !notSeenYet.has(ready.reason);
}

import { setTimeout as pause } from "node:timers/promises";
import { finalizer, labels } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { subscriptionKind, type SubscriptionSpec, type SubscriptionStatus } from "../../crds/subscription.ts";
import { NotFound, Unavailable } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { confirmCreated } from "../resources/change.ts";
import type { Following } from "../resources/following.ts";
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
    const known = isObserved(made) ? made : await untilObserved(made, following, signal, ports.store);
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

/** @throws NotFound when it is deleted meanwhile */
async function untilObserved(
  { metadata }: SubscriptionResource,
  following: Following<SubscriptionSpec, SubscriptionStatus>,
  signal: AbortSignal,
  store: ResourceStore,
): Promise<SubscriptionResource | undefined> {
  for (;;) {
    const told = await following.until(
      (seen) => (seen === undefined || isEnding(seen) ? "gone" : isObserved(seen) ? seen : undefined),
      signal,
    );
    if (told !== "gone") return told;
    // Maybe an earlier one of that name, whose end is told before the beginning of this one.
    const there = await store.find(subscriptionKind, metadata.namespace, metadata.name);
    if (there === undefined || isEnding(there) || there.metadata.uid !== metadata.uid)
      throw new NotFound("the subscription was deleted meanwhile");
    await pause(50);
  }
}

const isEnding = ({ metadata }: SubscriptionResource): boolean => metadata.deletionTimestamp !== undefined;

/** Both ends are there: an operator that does not find one has not been told of it yet. */
const notSeenYet: ReadonlySet<string> = new Set(["EmitterNotFound", "ListenerNotFound"]);

/** A listener that is switched off makes it not ready, which is an answer as well: it is in effect as soon as the listener is. */
function isObserved({ metadata, status }: SubscriptionResource): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  if (metadata.deletionTimestamp !== undefined || ready === undefined || ready.status === "Unknown") return false;
  return ready.observedGeneration >= metadata.generation && !notSeenYet.has(ready.reason);
}

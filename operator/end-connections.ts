import { autoSubscriptionKind, type AutoSubscriptionSpec } from "../crds/auto-subscription.ts";
import type { Kind, Resource } from "../crds/resource.ts";
import { allOf } from "../crds/resource-store.ts";
import { subscriptionKind, subscriptionLabels, type SubscriptionSpec } from "../crds/subscription.ts";
import { NotFound } from "../domain/errors.ts";
import { keyOf, parseKey } from "./controller/informer.ts";
import type { OperatorPorts } from "./ports.ts";
import { reaches, reachOf } from "./reach.ts";

type Ports = Pick<OperatorPorts, "store" | "owners" | "memberships">;
type End = Resource<unknown, { readonly id?: string | undefined }>;

/** Indexed lookups of the resources that name an emitter or listener, by id or by reference. */
export interface ConnectionLookup {
  subscriptionsOf(end: Resource): Iterable<string>;
  autoSubscriptionsTo(listener: Resource): Iterable<string>;
}

/** Deletes the connections of a source, webhook or workflow that is being deleted. @throws Unavailable */
export type EndConnections = (end: End) => Promise<void>;

/**
 * Deletes the Subscriptions that name an emitter or listener in deletion, and the AutoSubscriptions that name it as their listener. Those
 * with a glob name no single resource and stay. So do those of owners who cannot reach it: an id must not reveal even that it ended.
 */
export function endConnectionsOf(ports: Ports, lookup: ConnectionLookup): EndConnections {
  return async (end) => {
    const { id } = end.status;
    if (id === undefined) return;
    for (const key of lookup.autoSubscriptionsTo(end)) await endOne(autoSubscriptionKind, key, end, ports); // First: they make more.
    for (const key of await subscriptionKeys(end, id, ports, lookup)) await endOne(subscriptionKind, key, end, ports);
  };
}

/** Also lists from the store: the cache may miss a Subscription that the API has just created. */
async function subscriptionKeys(end: End, id: string, { store }: Ports, lookup: ConnectionLookup): Promise<ReadonlySet<string>> {
  const keys = new Set(lookup.subscriptionsOf(end));
  const { namespace } = end.metadata;
  for (const label of Object.values(subscriptionLabels)) {
    for await (const found of allOf(store, subscriptionKind, { namespace, labels: { [label]: id } })) keys.add(keyOf(found));
  }
  return keys;
}

async function endOne<S extends SubscriptionSpec | AutoSubscriptionSpec, T>(
  kind: Kind<S, T>,
  key: string,
  end: End,
  ports: Ports,
): Promise<void> {
  const { namespace, name } = parseKey(key);
  const found = await ports.store.find(kind, namespace, name);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined || found.invalid !== undefined) return;
  if (!names(found, end) || !(await mayName(found, end, ports))) return;
  await ports.store.delete(kind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}

/** Checks the spec: users can write labels. */
function names({ metadata: { namespace }, spec }: Resource<SubscriptionSpec | AutoSubscriptionSpec>, end: End): boolean {
  const ends = "emitter" in spec || "emitterRef" in spec ? [spec.emitter, spec.listener] : [spec.listener];
  const refs = "emitterRef" in spec ? [spec.emitterRef, spec.listenerRef] : [spec.listenerRef];
  if (ends.some((id) => id !== undefined && id === end.status.id)) return true;
  return namespace === end.metadata.namespace && refs.some((ref) => ref?.kind === end.kind && ref.name === end.metadata.name);
}

async function mayName({ metadata: { namespace } }: Resource, end: End, { owners, memberships }: Ports): Promise<boolean> {
  if (namespace === end.metadata.namespace) return true;
  const [owner, other] = [await owners.ownerOf(namespace), await owners.ownerOf(end.metadata.namespace)];
  return owner !== undefined && reaches(await reachOf(owner, [other], memberships), other);
}

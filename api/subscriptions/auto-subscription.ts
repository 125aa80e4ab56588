import { allOf } from "../../crds/resource-store.ts";
import { setTimeout as pause } from "node:timers/promises";
import { autoSubscriptionKind, type AutoSubscriptionSpec, type AutoSubscriptionStatus } from "../../crds/auto-subscription.ts";
import { labels, type Resource } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { NotFound } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { confirmCreated, unlessDeleted } from "../resources/change.ts";
import type { ApiContext } from "../context.ts";
import { findOrCreate } from "./find-or-create.ts";
import { autoSubscriptionId } from "./names.ts";
import type { AutoListening } from "./request.ts";

export type AutoSubscriptionResource = Resource<AutoSubscriptionSpec, AutoSubscriptionStatus>;

/** Channel and listener, resolved from its reference if necessary; a listener that does not exist yet has no id. */
export function listeningOf({ spec, status }: AutoSubscriptionResource): {
  [Part in keyof AutoListening]: AutoListening[Part] | undefined;
} {
  return { channel: spec.channel, listener: spec.listener ?? status.listener };
}

/**
 * Creates the owner's auto-subscription if it does not exist. It covers everything created after it, even if the operator sees it late.
 * @param check that the listener exists, see {@link confirmCreated}
 */
export async function createAutoSubscription(
  listening: AutoListening,
  owner: string,
  check: () => Promise<void>,
  context: ApiContext,
): Promise<AutoSubscriptionResource> {
  const existing = await findAutoSubscription(listening, owner, context);
  if (existing !== undefined) return existing;
  const id = autoSubscriptionId(owner, listening);
  const namespace = await context.ports.owners.ensure(owner);
  await untilOthersAreOlder(namespace, context);
  const given = { name: resourceNameOf(id), namespace, spec: listening, labels: { [labels.id]: id, [labels.owner]: owner } };
  const created = await findOrCreate(autoSubscriptionKind, given, context.autoSubscriptions, context);
  await confirmCreated(autoSubscriptionKind, created, check, context.ports.store);
  return created;
}

export async function findAutoSubscription(
  listening: AutoListening,
  owner: string,
  { ports }: Pick<ApiContext, "ports">,
): Promise<AutoSubscriptionResource | undefined> {
  const namespace = await ports.owners.find(owner);
  if (namespace === undefined) return undefined;
  for await (const found of autoSubscriptionsIn(namespace, ports)) {
    const { channel, listener } = listeningOf(found);
    if (channel === listening.channel && listener === listening.listener) return found;
  }
  return undefined;
}

/** Deletes it and waits, up to a limit, until its subscriptions are deleted too; the deletion continues afterwards. */
export async function deleteAutoSubscription(
  { metadata: { namespace, name } }: AutoSubscriptionResource,
  { config, ports, autoSubscriptions }: ApiContext,
): Promise<void> {
  const following = autoSubscriptions.follow(namespace, name);
  try {
    await unlessDeleted(ports.store.delete(autoSubscriptionKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}

/** Ends auto-subscriptions of that listener. Their existing subscriptions are deleted a moment later. */
export async function deleteAutoSubscriptionsTo(listener: string, namespace: string, ports: ApiContext["ports"]): Promise<void> {
  for await (const found of autoSubscriptionsIn(namespace, ports)) {
    if (listeningOf(found).listener !== listener) continue;
    await ports.store.delete(autoSubscriptionKind, namespace, found.metadata.name).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}

/** All auto-subscriptions of an owner, which are few, except those being deleted. */
export async function* autoSubscriptionsIn(namespace: string, { store }: ApiContext["ports"]): AsyncIterable<AutoSubscriptionResource> {
  for await (const each of allOf(store, autoSubscriptionKind, { namespace })) if (each.metadata.deletionTimestamp === undefined) yield each;
}

/**
 * Kubernetes stores whole seconds, and the operator treats resources created in the same second as later ones. Existing resources must
 * not be covered, so this waits until they are a second older; clocks may differ by another second.
 */
async function untilOthersAreOlder(namespace: string, { ports }: ApiContext): Promise<void> {
  const page = { limit: 1, cursor: null };
  const newest = await Promise.all([
    ports.pages.listPage(sourceKind, { namespace }, page),
    ports.pages.listPage(workflowKind, { namespace }, page),
  ]);
  const isRecent = (created: number): boolean => created % 1_000 === 0 && ports.clock.now() - created < 2_000;
  const created = newest.flatMap<Resource>(({ items }) => items).map(({ metadata }) => Date.parse(metadata.creationTimestamp));
  if (created.some(isRecent)) await pause(1_000);
}

import { setTimeout as pause } from "node:timers/promises";
import { autoSubscriptionKind, type AutoSubscriptionSpec, type AutoSubscriptionStatus } from "../../crds/auto-subscription.ts";
import { labels, type Resource } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { NotFound } from "../../domain/errors.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import { confirmCreated, unlessGone } from "../resources/change.ts";
import type { ApiContext } from "../routes/context.ts";
import { findOrCreate } from "./find-or-create.ts";
import { autoSubscriptionId } from "./names.ts";
import type { AutoListening } from "./request.ts";

export type AutoSubscriptionResource = Resource<AutoSubscriptionSpec, AutoSubscriptionStatus>;

/** Whom it subscribes: as it says itself, or what its reference stands for; a listener that is not there yet has no id. */
export function listeningBy({ spec, status }: AutoSubscriptionResource): {
  [Part in keyof AutoListening]: AutoListening[Part] | undefined;
} {
  return { channel: spec.channel, listener: spec.listener ?? status.listener };
}

/**
 * Makes the owner's unless it is there. All that is created after it is covered, however late the operator hears of it.
 * @param check that the listener is there, see {@link confirmCreated}
 */
export async function createAutoSubscription(
  wanted: AutoListening,
  owner: string,
  check: () => Promise<void>,
  context: ApiContext,
): Promise<AutoSubscriptionResource> {
  const there = await findAutoSubscription(wanted, owner, context);
  if (there !== undefined) return there;
  const id = autoSubscriptionId(owner, wanted);
  const namespace = await context.ports.owners.ensure(owner);
  await untilOthersAreOlder(namespace, context);
  const given = { name: resourceNameOf(id), namespace, spec: wanted, labels: { [labels.id]: id, [labels.owner]: owner } };
  const made = await findOrCreate(autoSubscriptionKind, given, context.autoSubscriptions, context);
  await confirmCreated(autoSubscriptionKind, made, check, context.ports.store);
  return made;
}

export async function findAutoSubscription(
  wanted: AutoListening,
  owner: string,
  { ports }: Pick<ApiContext, "ports">,
): Promise<AutoSubscriptionResource | undefined> {
  const namespace = await ports.owners.find(owner);
  if (namespace === undefined) return undefined;
  for await (const found of autoSubscriptionsIn(namespace, ports)) {
    const { channel, listener } = listeningBy(found);
    if (channel === wanted.channel && listener === wanted.listener) return found;
  }
  return undefined;
}

/** Waits until what it made is gone as well, or long enough: the deletion goes on after that. */
export async function deleteAutoSubscription(
  { metadata: { namespace, name } }: AutoSubscriptionResource,
  { config, ports, autoSubscriptions }: ApiContext,
): Promise<void> {
  const following = autoSubscriptions.follow(namespace, name);
  try {
    await unlessGone(ports.store.delete(autoSubscriptionKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}

/** What is still to come goes to that listener no longer; what was made so far ends a moment later. */
export async function deleteAutoSubscriptionsTo(listener: string, namespace: string, ports: ApiContext["ports"]): Promise<void> {
  for await (const found of autoSubscriptionsIn(namespace, ports)) {
    if (listeningBy(found).listener !== listener) continue;
    await ports.store.delete(autoSubscriptionKind, namespace, found.metadata.name).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}

/** An owner has few, so they are looked through; those on their way out are left out. */
export async function* autoSubscriptionsIn(namespace: string, { store }: ApiContext["ports"]): AsyncIterable<AutoSubscriptionResource> {
  let next: string | undefined;
  do {
    const page = await store.list(autoSubscriptionKind, { namespace, ...(next === undefined ? {} : { continue: next }) });
    yield* page.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    next = page.continue;
  } while (next !== undefined);
}

/**
 * Kubernetes keeps whole seconds, and the operator takes what was created in the same one for later. What is there already must not
 * be covered, so it is given the time to be a second older; its clock may differ from ours by another.
 */
async function untilOthersAreOlder(namespace: string, { ports }: ApiContext): Promise<void> {
  const page = { limit: 1, cursor: null };
  const newest = await Promise.all([
    ports.pages.listPage(sourceKind, { namespace }, page),
    ports.pages.listPage(workflowKind, { namespace }, page),
  ]);
  const isYoung = (created: number): boolean => created % 1_000 === 0 && ports.clock.now() - created < 2_000;
  const created = newest.flatMap<Resource>(({ items }) => items).map(({ metadata }) => Date.parse(metadata.creationTimestamp));
  if (created.some(isYoung)) await pause(1_000);
}

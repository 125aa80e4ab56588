import { subscriptionKind, subscriptionLabels, type SubscriptionSpec, type SubscriptionStatus } from "../../crds/subscription.ts";
import type { Resource } from "../../crds/resource.ts";
import { resourceNameOf } from "../../domain/ids.ts";
import type { Call } from "../http/request/call.ts";
import type { Access } from "../resources/access.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { subscriptionId } from "./names.ts";
import type { Connected } from "./request.ts";

export type SubscriptionResource = Resource<SubscriptionSpec, SubscriptionStatus>;

/** Finds the owner's subscription of these ends: by the API's name for it, or one that was created with kubectl. */
export async function findSubscription(ends: Connected, owner: string, context: ApiContext): Promise<SubscriptionResource | undefined> {
  const namespace = await context.ports.owners.find(owner);
  if (namespace === undefined) return undefined;
  const named = await context.ports.store.find(subscriptionKind, namespace, resourceNameOf(subscriptionId(owner, ends)));
  if (named !== undefined && named.metadata.deletionTimestamp === undefined) return named;
  return findForeign(namespace, ends, context);
}

/** The first result for the organization in the call, or for the user and their organizations. */
export async function findOfCaller<Found>(
  call: Call,
  access: Access,
  find: (owner: string) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const named = await access.owner(call);
  for (const owner of named === call.user.id ? await access.ownersOf(call.user) : [named]) {
    const found = await find(owner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Both ends and the channel, resolved from references if necessary; an end that does not exist yet has no id. */
export function connectedBy({ spec, status }: SubscriptionResource): { [End in keyof Connected]: string | undefined } {
  return { emitter: spec.emitter ?? status.emitter, listener: spec.listener ?? status.listener, channel: spec.channel };
}

/** Searches the few subscriptions that the API did not create, which lack its label. */
export async function findForeign(
  namespace: string,
  ends: Connected,
  { ports }: Pick<ApiContext, "ports">,
): Promise<SubscriptionResource | undefined> {
  for await (const found of foreign(namespace, ports)) {
    if (found.metadata.deletionTimestamp === undefined && isSame(connectedBy(found), ends)) return found;
  }
  return undefined;
}

const pageSize = 1_000;

export async function* foreign(namespace: string, { pages }: ApiContext["ports"]): AsyncIterable<SubscriptionResource> {
  let after: string | undefined;
  do {
    const cursor = after === undefined ? null : ({ side: "after", id: after } as const);
    const selection = { namespace, withoutLabel: subscriptionLabels.listener };
    const { items } = await pages.listPage(subscriptionKind, selection, { limit: pageSize, cursor });
    yield* items;
    const last = items.at(-1);
    after = last === undefined || items.length < pageSize ? undefined : publicIdOf(last);
  } while (after !== undefined);
}

function isSame(a: ReturnType<typeof connectedBy>, b: Connected): boolean {
  return a.emitter === b.emitter && a.listener === b.listener && a.channel === b.channel;
}

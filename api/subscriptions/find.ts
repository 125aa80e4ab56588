import { subscriptionKind, subscriptionLabels, type SubscriptionSpec, type SubscriptionStatus } from "../../crds/subscription.ts";
import { triggerSubscriptionName } from "../../crds/auto-subscription.ts";
import { madeFor, type Resource } from "../../crds/resource.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import { isId, resourceNameOf } from "../../domain/ids.ts";
import type { Call } from "../http/request/call.ts";
import type { Access } from "../resources/access.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { subscriptionId } from "./names.ts";
import type { Connected } from "./request.ts";

export type SubscriptionResource = Resource<SubscriptionSpec, SubscriptionStatus>;

/** Finds the owner's subscription of these ends: by the API's name for it, one that is a trigger, or one created with kubectl. */
export async function findSubscription(ends: Connected, owner: string, context: ApiContext): Promise<SubscriptionResource | undefined> {
  const namespace = await context.ports.owners.find(owner);
  if (namespace === undefined) return undefined;
  const named = await context.ports.store.find(subscriptionKind, namespace, resourceNameOf(subscriptionId(owner, ends)));
  if (named !== undefined && named.metadata.deletionTimestamp === undefined) return named;
  const trigger = await findTriggerSubscription(ends, context);
  return trigger?.metadata.namespace === namespace ? trigger : findForeign(namespace, ends, context);
}

/** The subscription that the operator made for a source trigger of a workflow, in the workflow's namespace. */
export async function findTriggerSubscription(
  ends: Connected,
  { ports }: Pick<ApiContext, "ports">,
): Promise<SubscriptionResource | undefined> {
  const workflow = await workflowListeningBy(ends, ports);
  if (workflow === undefined) return undefined;
  const { namespace, name } = workflow.metadata;
  const found = await ports.store.find(subscriptionKind, namespace, triggerSubscriptionName(name, ends.emitter));
  return found !== undefined && found.metadata.deletionTimestamp === undefined && isMadeFor(workflow, found) ? found : undefined;
}

/** The workflow that listens to the default channel of a source. */
export async function workflowListeningBy(
  { emitter, listener, channel = "" }: { [End in keyof Connected]: string | undefined },
  { store }: ApiContext["ports"],
): Promise<WorkflowResource | undefined> {
  if (channel !== "" || !isId("source", emitter ?? "") || !isId("workflow", listener ?? "")) return undefined;
  const workflow = await store.findById(workflowKind, listener ?? "");
  return workflow?.metadata.deletionTimestamp === undefined ? workflow : undefined;
}

/** Whether the operator made the subscription for a trigger of the workflow. */
export const isMadeFor = ({ metadata }: WorkflowResource, made: SubscriptionResource): boolean =>
  made.metadata.labels[madeFor] === metadata.uid;

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

import type { Resource } from "../../crds/resource.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { madeSubscriptionName } from "../../crds/auto-subscription.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { autoSubscriptionsIn, type AutoSubscriptionResource } from "./auto-subscription.ts";
import { isObserved } from "./create.ts";

type Emitter = Resource<unknown, { readonly id?: string | undefined }>;

/** The emitter exists in any case, and the operator subscribes it later if necessary. */
const maxWaitMs = 3_000;

/**
 * Waits until the owner's auto-subscriptions are in effect for a new source or workflow, so that its first error is delivered. Returns after 3 s even
 * if they are not.
 */
export async function untilAutoSubscribed(emitter: Emitter, context: ApiContext): Promise<void> {
  const { namespace } = emitter.metadata;
  const signal = AbortSignal.timeout(maxWaitMs);
  for await (const auto of autoSubscriptionsIn(namespace, context.ports))
    if (coversNewEmitters(auto))
      await untilInEffect(namespace, madeSubscriptionName(auto.metadata.name, publicIdOf(emitter)), signal, context);
}

/** False if the operator finds no listener; true until it has checked. */
function coversNewEmitters({ status }: AutoSubscriptionResource): boolean {
  return status.conditions?.find(({ type }) => type === "Ready")?.status !== "False";
}

async function untilInEffect(
  namespace: string,
  name: string,
  signal: AbortSignal,
  { ports, subscriptions }: Pick<ApiContext, "ports" | "subscriptions">,
): Promise<void> {
  const following = subscriptions.follow(namespace, name);
  try {
    following.notify(await ports.store.find(subscriptionKind, namespace, name));
    await following.until((seen) => (seen !== undefined && isObserved(seen) ? true : undefined), signal);
  } finally {
    following.end();
  }
}

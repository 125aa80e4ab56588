import { subscriptionKind } from "../../crds/subscription.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { ApiPorts } from "../ports.ts";
import type { MemberRule } from "../owners/ports.ts";

/** Set on subscriptions whose owner left an organization, so that the operator reconciles them. */
const membershipChangedAt = "headwater.dev/membership-changed-at";
/** Maximum concurrent updates. */
const maxUpdates = 16;

/**
 * Removes a member and has the operator check their subscriptions again, since those to the organization's sources end with the membership.
 * The operator also checks them every two minutes, in case this process ends in between. @throws NotFound, Conflict as `Accounts.removeMember`
 */
export async function removeMember(
  { user, organization, rule }: { user: string; organization: string; rule?: MemberRule },
  { accounts, owners, store, clock }: Pick<ApiPorts, "accounts" | "owners" | "store" | "clock">,
): Promise<void> {
  await accounts.removeMember(user, organization, rule);
  const namespace = await owners.find(user);
  if (namespace === undefined) return;
  const subscriptions = (await store.list(subscriptionKind, { namespace })).items.filter(({ spec }) => spec.emitterRef === undefined);
  for (let start = 0; start < subscriptions.length; start += maxUpdates) {
    await Promise.all(
      subscriptions.slice(start, start + maxUpdates).map(async (subscription) => {
        const { metadata } = subscription;
        const annotations = { ...metadata.annotations, [membershipChangedAt]: new Date(clock.now()).toISOString() };
        await store.update(subscriptionKind, { ...subscription, metadata: { ...metadata, annotations } }).catch((error: unknown) => {
          // Another change since it was read has the operator reconcile it as well.
          if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
        });
      }),
    );
  }
}

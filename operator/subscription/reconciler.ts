import { subscriptionKind } from "../../crds/subscription.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf, lookForOwnerMs } from "../identity.ts";
import { defaultChangesElsewhereMs, type OperatorConfig, type OperatorPorts } from "../ports.ts";
import { writeRoute } from "../route-entry.ts";
import { spread } from "../spread.ts";
import { urlProblem } from "../webhook/problem.ts";
import type { SealedKeys, SigningKeys, WebhookResource } from "../webhook/signing-keys.ts";
import { emitterOf, listenerEndOf } from "./ends.ts";
import { judge, type Judged } from "./plan.ts";
import { isForeign, reaches, reachOf } from "./reach.ts";
import type { SubscriptionResource } from "./resources.ts";

/** A subscription becomes an entry that routers read; without an emitter and a listener in its owner's reach it has none and says so. */
export function subscriptionReconciler(
  ports: OperatorPorts,
  signingKeys: SigningKeys,
  { changesElsewhereMs = defaultChangesElsewhereMs }: Pick<OperatorConfig, "changesElsewhereMs"> = {},
) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(subscriptionKind, namespace, name);
    if (found === undefined) return;
    const id = await idOf(ports, subscriptionKind, found, "subscription");
    if (found.metadata.deletionTimestamp !== undefined) {
      await ports.routes.delete(id);
      await release(ports.store, subscriptionKind, found);
      return;
    }
    const subscription = await adopt(ports.store, subscriptionKind, found, id);
    const seen = await observe(id, subscription, ports, signingKeys);
    const verdict = judge({ id, subscription, ...seen });
    await writeRoute(id, verdict.route, ports);
    const fields = { id, emitter: seen.emitter.id, listener: seen.listener.id };
    await writeStatus(ports.store, subscriptionKind, subscription, {
      fields,
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    if (seen.reach === undefined) return lookForOwnerMs;
    // Nobody tells us who joins an organization and who leaves it.
    const { owner } = seen.reach;
    const isShared = [seen.emitter.owner, seen.listener.owner].some((other) => other !== undefined && isForeign(owner, other));
    return isShared ? spread(changesElsewhereMs, ports) : undefined;
  };
}

type Seen = Pick<Judged, "reach" | "emitter" | "listener">;

/** The keys of a webhook are read for those alone who reach it. */
async function observe(id: string, subscription: SubscriptionResource, ports: OperatorPorts, signingKeys: SigningKeys): Promise<Seen> {
  const { metadata, spec } = subscription;
  const [owner, emitter, listener] = await Promise.all([
    ports.owners.ownerOf(metadata.namespace),
    emitterOf(subscription, ports, () => ports.routes.get(id)),
    listenerEndOf(spec, metadata.namespace, ports),
  ]);
  const reach = owner === undefined ? undefined : await reachOf(owner, [emitter.owner, listener.owner], ports.memberships);
  const { found } = listener;
  const hasKeys = found?.kind === "webhook" && found.webhook.invalid === undefined && reach !== undefined && reaches(reach, listener.owner);
  return { reach, emitter, listener: { ...listener, keys: hasKeys ? await keysOf(found.webhook, ports, signingKeys) : undefined } };
}

async function keysOf(webhook: WebhookResource, ports: OperatorPorts, signingKeys: SigningKeys): Promise<SealedKeys> {
  const problem = urlProblem(webhook.spec.url, ports);
  return problem === undefined ? signingKeys.of(webhook) : { problem };
}

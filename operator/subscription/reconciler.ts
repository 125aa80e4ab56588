import type { WebhookResource } from "../../crds/webhook.ts";
import { subscriptionKind, type SubscriptionResource } from "../../crds/subscription.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { idOf } from "../identity.ts";
import { defaultExternalPollMs, ownerRetryMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { writeRoute } from "../route-entry.ts";
import { urlProblem } from "../webhook/problem.ts";
import type { SealedKeys, SigningKeys } from "../webhook/signing-keys.ts";
import { emitterOf, listenerEndOf } from "./ends.ts";
import { judge, type JudgeInput } from "./plan.ts";
import { isForeign, reaches, reachOf } from "../reach.ts";

/** Writes the route of a subscription if its owner can reach emitter and listener; otherwise reports why not. */
export function subscriptionReconciler(
  ports: OperatorPorts,
  signingKeys: SigningKeys,
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs"> = {},
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
    const ends = await observe(id, subscription, ports, signingKeys);
    const verdict = judge({ id, subscription, ...ends });
    await writeRoute(id, verdict.route, ports);
    const fields = { id, emitter: ends.emitter.id, listener: ends.listener.id };
    await writeStatus(ports.store, subscriptionKind, subscription, {
      fields,
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    if (ends.reach === undefined) return ownerRetryMs;
    // Memberships are not watched.
    const { owner } = ends.reach;
    const isShared = [ends.emitter.owner, ends.listener.owner].some((other) => other !== undefined && isForeign(owner, other));
    return isShared ? spread(externalPollMs, ports) : undefined;
  };
}

type Ends = Pick<JudgeInput, "reach" | "emitter" | "listener">;

/** Reads a webhook's keys only if the owner can reach it. */
async function observe(id: string, subscription: SubscriptionResource, ports: OperatorPorts, signingKeys: SigningKeys): Promise<Ends> {
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

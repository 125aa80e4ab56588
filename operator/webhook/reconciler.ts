import { holderOf } from "../../crds/secret-values.ts";
import { disabledWebhook, routedWebhook, secretsOf, webhookKind, type SealedWebhook, type WebhookResource } from "../../crds/webhook.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { NotFound } from "../../domain/errors.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import { webhookHealthOf } from "../../crds/webhook-health.ts";
import { adoptSecrets } from "../adopt-secrets.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { nextStatus, readyConditions, updatedAtOf, writeStatus } from "../controller/status.ts";
import type { EndConnections } from "../end-connections.ts";
import { settledHealth } from "../health/status-health.ts";
import { idOf, namespaceHasNoOwner } from "../identity.ts";
import { defaultExternalPollMs, ownerRetryMs, spread } from "../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../ports.ts";
import { writeRoute } from "../route-entry.ts";
import { disabledProblem, urlProblem } from "./problem.ts";
import { previousKeyEndsInMs, referencesOf, type SealedKeys, type SigningKeys } from "./signing-keys.ts";

const missingKeyRetryMs = 5_000;
/** setTimeout is limited to 24 days. */
const maxRequeueMs = 3_600_000;

/**
 * Gives a webhook its id and a signing key if it names none, reports whether it can be used, and writes its own route for deliveries
 * without a subscription. The finalizer ensures that the route is removed with it.
 */
export function webhookReconciler(
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs">,
  ports: OperatorPorts,
  signingKeys: SigningKeys,
  endConnections: EndConnections = () => Promise.resolve(),
) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(webhookKind, namespace, name);
    if (found === undefined) return;
    const id = await idOf(ports, webhookKind, found, "webhook");
    if (found.metadata.deletionTimestamp !== undefined) {
      if ((await ports.owners.ownerOf(namespace)) !== undefined) await adoptSecrets(webhookKind, found, secretsOf(found.spec), ports);
      await ports.routes.delete(id);
      await ports.failingEndpoints.forget(id);
      await endConnections(found);
      await release(ports.store, webhookKind, found);
      return;
    }
    const resource = await adopt(ports.store, webhookKind, found, id);
    const owner = await ports.owners.ownerOf(namespace);
    if (owner === undefined) {
      await ports.routes.delete(id);
      await report(resource, id, namespaceHasNoOwner(namespace), ports);
      return ownerRetryMs;
    }
    const webhook = await ensureSigningKey(resource, id, ports);
    const keys = await signingKeys.read(webhook);
    const verdict = judge(webhook, keys, ports);
    await writeRoute(
      id,
      ownRoute({ id, owner, webhook, sealed: verdict.reason === "Active" && "keys" in keys ? keys : { keys: [] } }),
      ports,
    );
    await report(webhook, id, verdict, ports);
    return requeueAfterMs(webhook, keys, externalPollMs, ports);
  };
}

/** From the webhook to itself, an id that never emits. Without keys nothing is posted. */
function ownRoute({ id, owner, webhook, sealed }: { id: string; owner: string; webhook: WebhookResource; sealed: SealedWebhook }): Route {
  return { subscription: id, owner, emitter: id, channel: "", listener: routedWebhook(id, webhook.spec, sealed) };
}

function requeueAfterMs(webhook: WebhookResource, keys: SealedKeys, externalPollMs: number, ports: OperatorPorts): number | undefined {
  if ("problem" in keys) return missingKeyRetryMs;
  const now = ports.clock.now();
  const hasSecretRefs = referencesOf(webhook, now).some(({ secretKeyRef }) => secretKeyRef !== undefined);
  const waits = [hasSecretRefs ? spread(externalPollMs, ports) : undefined, previousKeyEndsInMs(webhook, now)];
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.min(maxRequeueMs, ...known);
}

type Verdict = Parameters<typeof readyConditions>[0];

function judge(webhook: WebhookResource, keys: SealedKeys, ports: OperatorPorts): Verdict {
  const { spec } = webhook;
  const problem = urlProblem(spec.url, ports) ?? ("problem" in keys ? keys.problem : undefined);
  if (problem !== undefined) return { ready: false, ...problem };
  if (!spec.active) return { ready: true, reason: "Inactive", message: "switched off: nothing is posted" };
  const disabled = disabledProblem(webhook);
  if (disabled !== undefined) return { ready: false, ...disabled };
  return { ready: true, reason: "Active", message: "events of its subscriptions are posted" };
}

function report(webhook: WebhookResource, id: string, verdict: Verdict, { store, clock }: OperatorPorts): Promise<WebhookResource> {
  const now = clock.now();
  const disabled = disabledWebhook(webhook) === undefined ? undefined : webhook.status.disabled;
  const fields = { id, disabled, updatedAt: updatedAtOf(webhook, now) };
  const change = { fields, conditions: readyConditions(verdict), now };
  const next = { ...webhook, status: nextStatus(webhook, change) };
  const isSame = webhook.status.observedGeneration === webhook.metadata.generation;
  const [known, health] = [webhookHealthOf(webhook, undefined, now), webhookHealthOf(next, undefined, now)];
  const healthFields = settledHealth(webhook.status, known, health, isSame);
  return writeStatus(store, webhookKind, webhook, { ...change, fields: { ...fields, ...healthFields } });
}

/**
 * Settles the keys that the webhook names. If it names none, stores a key, names it in the status, then settles it as the webhook's own.
 * After a crash in between, the status without Ready makes the next pass repeat it. A generated key that was deleted is replaced; one that
 * is no longer needed is deleted.
 */
async function ensureSigningKey(webhook: WebhookResource, id: string, ports: OperatorPorts): Promise<WebhookResource> {
  const { signingKey } = webhook.status;
  const { namespace, name, uid, generation } = webhook.metadata;
  const holder = { kind: webhookKind.kind, namespace, name };
  const settled = { ...holder, uid, generation };
  if (webhook.spec.signingKeys.length > 0) {
    if (signingKey === undefined && webhook.status.observedGeneration === generation) return webhook;
    await ports.secretValues.settle(settled, secretsOf(webhook.spec));
    return signingKey === undefined ? webhook : reportKeyChange(webhook, id, undefined, ports);
  }
  const isSettled = webhook.status.conditions?.some(
    ({ type, status, observedGeneration }) => type === "Ready" && status === "True" && observedGeneration === generation,
  );
  if (signingKey !== undefined && (await keyExists(webhook, ports))) {
    if (isSettled !== true) await ports.secretValues.settle(settled, [signingKey, ...secretsOf(webhook.spec)]);
    return webhook;
  }
  const kept = await ports.secretValues.keep(holder, { key: formatSigningKey(ports.randomBytes(32)) });
  const changed = await reportKeyChange(webhook, id, kept["key"], ports);
  const { signingKey: newKey } = changed.status;
  await ports.secretValues.settle(settled, [...(newKey === undefined ? [] : [newKey]), ...secretsOf(webhook.spec)]);
  ports.events.record(changed, {
    type: "Normal",
    reason: "SigningKeyMade",
    message: "a signing key was created: status.signingKey refers to it",
  });
  return changed;
}

function reportKeyChange(
  webhook: WebhookResource,
  id: string,
  signingKey: WebhookResource["status"]["signingKey"],
  { store, clock }: OperatorPorts,
): Promise<WebhookResource> {
  const message = "its signing key is being stored";
  const conditions = readyConditions({ ready: false, transient: true, reason: "SigningKeyChanging", message });
  const now = clock.now();
  const fields = { id, signingKey, updatedAt: updatedAtOf(webhook, now) };
  return writeStatus(store, webhookKind, webhook, { fields, conditions, now });
}

async function keyExists(webhook: WebhookResource, { secretValues }: OperatorPorts): Promise<boolean> {
  const { signingKey } = webhook.status;
  if (signingKey?.secretKeyRef === undefined) return signingKey !== undefined;
  try {
    await secretValues.read(holderOf(webhookKind, webhook), signingKey);
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

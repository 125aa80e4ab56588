import { webhookKind } from "../../crds/webhook.ts";
import { NotFound } from "../../domain/errors.ts";
import { formatSigningKey } from "../../domain/webhook-signature.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { findIdentified, lookForOwnerMs, namespaceHasNoOwner } from "../identity.ts";
import { defaultChangesElsewhereMs, type OperatorConfig, type OperatorPorts } from "../ports.ts";
import { spread } from "../spread.ts";
import { urlProblem } from "./problem.ts";
import { keyReferencesOf, type SealedKeys, type SigningKeys, type WebhookResource } from "./signing-keys.ts";

const missingMs = 5_000;

/** Gives a webhook its id and, unless it names one, a signing key, and says whether anything can be posted to it. */
export function webhookReconciler(
  { changesElsewhereMs = defaultChangesElsewhereMs }: Pick<OperatorConfig, "changesElsewhereMs">,
  ports: OperatorPorts,
  signingKeys: SigningKeys,
) {
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, webhookKind, key, "webhook");
    if (found === undefined) return;
    const { id, resource, hasOwner } = found;
    if (!hasOwner) {
      await say(resource, id, namespaceHasNoOwner(resource.metadata.namespace), ports);
      return lookForOwnerMs;
    }
    const webhook = await withItsKey(resource, id, ports);
    const keys = await signingKeys.read(webhook);
    await say(webhook, id, judge(webhook, keys, ports), ports);
    if ("problem" in keys) return missingMs;
    const isLive = keyReferencesOf(webhook).some(({ secretKeyRef }) => secretKeyRef !== undefined);
    return isLive ? spread(changesElsewhereMs, ports) : undefined;
  };
}

type Verdict = Parameters<typeof readyConditions>[0];

function judge({ spec }: WebhookResource, keys: SealedKeys, ports: OperatorPorts): Verdict {
  const problem = urlProblem(spec.url, ports) ?? ("problem" in keys ? keys.problem : undefined);
  if (problem !== undefined) return { ready: false, ...problem };
  if (!spec.active) return { ready: true, reason: "Inactive", message: "switched off: nothing is posted" };
  return { ready: true, reason: "Active", message: "events of its subscriptions are posted" };
}

function say(webhook: WebhookResource, id: string, verdict: Verdict, { store, clock }: OperatorPorts): Promise<WebhookResource> {
  return writeStatus(store, webhookKind, webhook, { fields: { id }, conditions: readyConditions(verdict), now: clock.now() });
}

/**
 * The key is kept first, then named by the status, then made the webhook's own: killed in between, the status without the last
 * word (Ready) has it done again. A key of ours that somebody deleted is replaced, and one that is no longer needed ends.
 */
async function withItsKey(webhook: WebhookResource, id: string, ports: OperatorPorts): Promise<WebhookResource> {
  const { signingKey } = webhook.status;
  const { namespace, name, uid, generation } = webhook.metadata;
  const holder = { kind: webhookKind.kind, namespace, name };
  const settled = { ...holder, uid, generation };
  if (webhook.spec.signingKeys.length > 0) {
    if (signingKey === undefined) return webhook;
    await ports.secretValues.settle(settled, webhook.spec.signingKeys);
    return pending(webhook, id, undefined, ports);
  }
  const isSettled = webhook.status.conditions?.some(
    ({ type, status, observedGeneration }) => type === "Ready" && status === "True" && observedGeneration === generation,
  );
  if (signingKey !== undefined && (await isThere(webhook, ports))) {
    if (isSettled !== true) await ports.secretValues.settle(settled, [signingKey]);
    return webhook;
  }
  const kept = await ports.secretValues.keep(holder, { key: formatSigningKey(ports.randomBytes(32)) });
  const made = await pending(webhook, id, kept["key"], ports);
  await ports.secretValues.settle(settled, keyReferencesOf(made));
  ports.events.tell(made, {
    type: "Normal",
    reason: "SigningKeyMade",
    message: "a signing key was made: status.signingKey says where it is",
  });
  return made;
}

function pending(
  webhook: WebhookResource,
  id: string,
  signingKey: WebhookResource["status"]["signingKey"],
  { store, clock }: OperatorPorts,
): Promise<WebhookResource> {
  const message = "its signing key is being put in place";
  const conditions = readyConditions({ ready: false, passing: true, reason: "SigningKeyChanging", message });
  return writeStatus(store, webhookKind, webhook, { fields: { id, signingKey }, conditions, now: clock.now() });
}

async function isThere({ metadata, status }: WebhookResource, { secretValues }: OperatorPorts): Promise<boolean> {
  if (status.signingKey?.secretKeyRef === undefined) return status.signingKey !== undefined;
  try {
    await secretValues.read(metadata.namespace, status.signingKey);
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

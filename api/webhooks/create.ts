import type { z } from "zod";
import { finalizer, labels } from "../../crds/resource.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import type { ApiContext } from "../context.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import { newAddress } from "./address.ts";
import type { creation } from "./request.ts";
import type { WebhookResource } from "./webhook.ts";

/** Creates a webhook with a new signing key, which only the response to this request shows. */
export async function createWebhook(
  { url: given, name, description, ordered = false }: z.output<typeof creation>,
  owner: string,
  { ports }: Pick<ApiContext, "ports">,
): Promise<{ readonly webhook: WebhookResource; readonly signingKey: string }> {
  const { url, credentials } = newAddress(given);
  const id = newId("webhook", ports.randomBytes);
  const signingKey = formatSigningKey(ports.randomBytes(32));
  const holder = { kind: webhookKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
  const keep = keepOnce(holder, ports);
  const { key, basicAuth } = await keep({ key: signingKey, ...(credentials === undefined ? {} : { basicAuth: credentials }) });
  const webhook = await ports.store.create(webhookKind, {
    name: holder.name,
    namespace: holder.namespace,
    labels: { [labels.id]: id, [labels.owner]: owner },
    // A deletion waits for the operator, which first makes the webhook own its Secret.
    finalizers: [finalizer],
    spec: {
      url,
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      active: true,
      ...(ordered ? { ordered } : {}),
      signingKeys: key === undefined ? [] : [key],
      ...(basicAuth === undefined ? {} : { basicAuth }),
    },
  });
  await confirmOwned(webhookKind, webhook, owner, ports);
  return { webhook, signingKey };
}

import { labels } from "../../crds/resource.ts";
import { secretsOf, webhookKind } from "../../crds/webhook.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { formatSigningKey } from "../../domain/delivery/webhook-signature.ts";
import { noContent, ok, type Call } from "../http/request/call.ts";
import { parse } from "../http/request/parameters.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { keepOnce, settleSecrets } from "../resources/secret-texts.ts";
import { testResponse } from "../deliveries/response.ts";
import { rotationResponse, webhookResponse, type WebhookChange } from "./response.ts";
import { deleteSubscriptionsTo } from "../subscriptions/of-listener.ts";
import { newAddress } from "./address.ts";
import { changeWebhook } from "./change.ts";
import { changes, creation, rotation, test } from "./request.ts";
import { endPreviousKey, rotateKey } from "./rotate.ts";
import { testWebhook } from "./test.ts";
import { webhookOf, type WebhookResource } from "./webhook.ts";
import type { ApiContext } from "../context.ts";

export { creation };

export function webhookRoutes(context: ApiContext) {
  const { access, ports } = context;
  /** Makes the caller's next list show the webhook like this response. */
  const changed = async ({ user }: Call, webhook: WebhookResource): Promise<WebhookChange> => {
    await ports.pages.show(webhookKind, webhook);
    return { userId: user.id, changedAt: ports.clock.now() };
  };
  return {
    create: async (call: Call) => {
      const { url: given, name, description, ordered = false } = parse(creation, call.parameters);
      const { url, credentials } = newAddress(given);
      const owner = await access.owner(call);
      const id = newId("webhook", ports.randomBytes);
      const signingKey = formatSigningKey(ports.randomBytes(32));
      const holder = { kind: webhookKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
      const { key, basicAuth } = await keepOnce(
        holder,
        ports,
      )({ key: signingKey, ...(credentials === undefined ? {} : { basicAuth: credentials }) });
      const signingKeys = key === undefined ? [] : [key];
      const webhook = await ports.store.create(webhookKind, {
        name: holder.name,
        namespace: holder.namespace,
        labels: { [labels.id]: id, [labels.owner]: owner },
        spec: {
          url,
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          active: true,
          ...(ordered ? { ordered } : {}),
          signingKeys,
          ...(basicAuth === undefined ? {} : { basicAuth }),
        },
      });
      await confirmOwned(webhookKind, webhook, owner, ports);
      await settleSecrets(webhook, secretsOf(webhook.spec), ports);
      return ok({ ...webhookResponse(webhook, owner, { userId: call.user.id }), signing_key: signingKey });
    },
    get: async (call: Call) => {
      const webhook = await webhookOf(call, context);
      return ok(webhookResponse(webhook, await access.ownerOf(webhook)));
    },
    update: async (call: Call) => {
      const given = parse(changes, call.parameters);
      const webhook = await changeWebhook(await webhookOf(call, context), given, context);
      return ok(webhookResponse(webhook, await access.ownerOf(webhook), await changed(call, webhook)));
    },
    /** Deletes the subscriptions first, and afterwards those that were created in the meantime. */
    delete: async (call: Call) => {
      const webhook = await webhookOf(call, context);
      const { namespace, name } = webhook.metadata;
      await deleteSubscriptionsTo(publicIdOf(webhook), call.user, context);
      await unlessDeleted(ports.store.delete(webhookKind, namespace, name));
      await deleteSubscriptionsTo(publicIdOf(webhook), call.user, context);
      await ports.deliveries.deleteWebhook(publicIdOf(webhook));
      return noContent;
    },
    rotateKey: async (call: Call) => {
      const { overlap_seconds } = parse(rotation, call.parameters);
      const { webhook, signingKey } = await rotateKey(await webhookOf(call, context), overlap_seconds * 1_000, context);
      return ok(rotationResponse(webhook, await access.ownerOf(webhook), { ...(await changed(call, webhook)), signingKey }));
    },
    endPreviousKey: async (call: Call) => {
      const webhook = await endPreviousKey(await webhookOf(call, context), context);
      return ok(rotationResponse(webhook, await access.ownerOf(webhook), await changed(call, webhook)));
    },
    test: async (call: Call) => {
      const { event } = parse(test, call.body);
      return ok(testResponse(await testWebhook(await webhookOf(call, context), event, context)));
    },
  };
}

import { z } from "zod";
import { labels } from "../../crds/resource.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { formatSigningKey } from "../../domain/webhook-signature.ts";
import { noContent, ok, type Handle } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse, text } from "../http/parameters.ts";
import { keepOnce, settleSecrets } from "../resources/secret-texts.ts";
import { webhookResponse } from "../responses/webhook.ts";
import { httpUrl } from "../sources/request.ts";
import { deleteSubscriptionsTo } from "../subscriptions/of-listener.ts";
import type { ApiContext } from "./context.ts";

const shown = (most: number) =>
  text
    .max(most, `it must have at most ${most} characters`)
    .nullish()
    .transform((value) => value ?? undefined);
export const creation = z.object({ url: httpUrl, name: shown(255), description: shown(2_000) });

export function webhookRoutes(context: ApiContext): Record<"create" | "delete", Handle> {
  const { access, ports } = context;
  return {
    create: async (call) => {
      const { url, name, description } = parse(creation, call.parameters);
      const owner = await access.owner(call);
      const id = newId("webhook", ports.randomBytes);
      const signingKey = formatSigningKey(ports.randomBytes(32));
      const holder = { kind: webhookKind.kind, namespace: await ports.owners.ensure(owner), name: resourceNameOf(id) };
      const signingKeys = Object.values(await keepOnce(holder, ports)({ key: signingKey }));
      const webhook = await ports.store.create(webhookKind, {
        name: holder.name,
        namespace: holder.namespace,
        labels: { [labels.id]: id, [labels.owner]: owner },
        spec: {
          url,
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          active: true,
          signingKeys,
        },
      });
      await settleSecrets(webhook, signingKeys, ports);
      return ok(webhookResponse(webhook, { userId: call.user.id, signingKey }));
    },
    /** Its subscriptions go first: without it they would lead nowhere. */
    delete: async (call) => {
      const id = pathOf(call, "id");
      const { metadata } = await access.get(webhookKind, "webhook", id, call.user);
      await deleteSubscriptionsTo(id, call.user, context);
      await ports.store.delete(webhookKind, metadata.namespace, metadata.name);
      return noContent;
    },
  };
}

import { webhookKind } from "../../crds/webhook.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { listOperations } from "../list-operations.ts";
import { changeWebhook } from "./change.ts";
import { createWebhook } from "./create.ts";
import { factsOf, factsOfAll } from "./facts.ts";
import { deleteWebhook } from "./delete.ts";
import { selectionOf, webhookFilters } from "./list-filters.ts";
import { changes, creation, rotation, test } from "./request.ts";
import { rotationResponse, testResponse, webhookResponse, type WebhookChange } from "./response.ts";
import { endPreviousKey, rotateKey } from "./rotate.ts";
import { createdWebhookSchema, rotatedWebhookSchema, testedWebhookSchema, webhookSchema } from "./schemas.ts";
import { testWebhook } from "./test.ts";
import { webhookOf, type WebhookResource } from "./webhook.ts";

export const webhookOperations = [
  ...listOperations({
    path: "webhooks",
    id: "Webhooks",
    noun: "webhooks",
    kind: webhookKind,
    schema: webhookSchema,
    filters: webhookFilters,
    selectionOf: (filters) => ({ listed: selectionOf(filters) }),
    isSortable: true,
    respond: async (webhooks, _namespace, context) => {
      const facts = await factsOfAll(webhooks, context);
      return webhooks.map((webhook) => webhookResponse(webhook, facts(webhook)));
    },
  }),
  operation({
    route: "POST /webhooks",
    id: "createWebhook",
    change: { action: "create", kind: "Webhook" },
    summary: "Create a webhook",
    query: ownerParameters,
    body: creation,
    bodyOrQuery: true,
    responses: one(createdWebhookSchema),
    handle: async (call, context) => {
      const fields = call.body();
      const owner = await context.access.owner(call);
      const { webhook, signingKey } = await createWebhook(fields, owner, context);
      return ok({ ...webhookResponse(webhook, await factsOf(webhook, context), { userId: call.user.id }), signing_key: signingKey });
    },
  }),
  operation({
    route: "GET /webhooks/:id",
    id: "getWebhook",
    summary: "Get a webhook",
    responses: one(webhookSchema),
    handle: async (call, context) => {
      const webhook = await webhookOf(call, context);
      return ok(webhookResponse(webhook, await factsOf(webhook, context)));
    },
  }),
  operation({
    route: "PUT /webhooks/:id",
    id: "updateWebhook",
    change: { action: "update", kind: "Webhook" },
    summary: "Change a webhook",
    description: "Absent fields stay unchanged. Null removes a field.",
    body: changes,
    bodyOrQuery: true,
    responses: one(webhookSchema),
    errors: [409],
    handle: async (call, context) => {
      const given = call.body();
      const webhook = await changeWebhook(await webhookOf(call, context), given, context);
      return ok(webhookResponse(webhook, await factsOf(webhook, context), await changed(call, webhook, context)));
    },
  }),
  operation({
    route: "DELETE /webhooks/:id",
    id: "deleteWebhook",
    change: { action: "delete", kind: "Webhook" },
    summary: "Delete a webhook and its subscriptions",
    responses: nothing,
    handle: async (call, context) => {
      await deleteWebhook(await webhookOf(call, context), call.user, context);
      return noContent;
    },
  }),
  operation({
    route: "POST /webhooks/:id/rotate_key",
    id: "rotateSigningKey",
    change: { action: "rotate_key", kind: "Webhook" },
    summary: "Sign with a new key",
    description: "The previous key also signs until the overlap ends.",
    body: rotation,
    bodyOrQuery: true,
    responses: one(rotatedWebhookSchema),
    errors: [409],
    handle: async (call, context) => {
      const { overlap_seconds } = call.body();
      const { webhook, signingKey } = await rotateKey(await webhookOf(call, context), overlap_seconds * 1_000, context);
      const change = { ...(await changed(call, webhook, context)), signingKey };
      return ok(rotationResponse(webhook, await factsOf(webhook, context), change));
    },
  }),
  operation({
    route: "DELETE /webhooks/:id/previous_key",
    id: "endPreviousKey",
    change: { action: "end_previous_key", kind: "Webhook" },
    summary: "Sign only with the newest key",
    responses: one(rotatedWebhookSchema),
    errors: [409],
    handle: async (call, context) => {
      const webhook = await endPreviousKey(await webhookOf(call, context), context);
      return ok(rotationResponse(webhook, await factsOf(webhook, context), await changed(call, webhook, context)));
    },
  }),
  operation({
    route: "POST /webhooks/:id/test",
    id: "testWebhook",
    change: { action: "test", kind: "Webhook" },
    summary: "Post a signed test event to a webhook now",
    body: test,
    responses: one(testedWebhookSchema),
    errors: [409, 504],
    handle: async (call, context) => {
      const { event } = call.body();
      return ok(testResponse(await testWebhook(await webhookOf(call, context), event, context)));
    },
  }),
];

/** Makes the caller's next list show the webhook like this response. */
async function changed({ user }: Call, webhook: WebhookResource, { ports }: ApiContext): Promise<WebhookChange> {
  await ports.pages.show(webhookKind, webhook);
  return { userId: user.id, changedAt: ports.clock.now() };
}

import { autoSubscriptionSchema, createdWebhookSchema, subscriptionSchema, webhookSchema } from "../../resources/schemas.ts";
import { autoFields, fields } from "../../subscriptions/request.ts";
import { changes, creation } from "../../webhooks/request.ts";
import { mine, owned, pages } from "../fields.ts";
import { nothing, one, page, type Operations } from "../operation.ts";

export const routingOperations = {
  "GET /users/me/webhooks": { id: "listMyWebhooks", summary: "The caller's webhooks", query: mine, answers: page(webhookSchema) },
  "GET /orgs/:org_id/webhooks": { id: "listWebhooks", summary: "An organization's webhooks", query: pages, answers: page(webhookSchema) },
  "POST /webhooks": {
    id: "createWebhook",
    summary: "Make a webhook",
    query: owned,
    body: creation,
    bodyOrQuery: true,
    answers: one(createdWebhookSchema),
  },
  "GET /webhooks/:id": { id: "getWebhook", summary: "A webhook", answers: one(webhookSchema) },
  "PUT /webhooks/:id": {
    id: "updateWebhook",
    summary: "Change a webhook",
    description: "What is not given stays; null removes.",
    body: changes,
    bodyOrQuery: true,
    answers: one(webhookSchema),
    errors: [409],
  },
  "DELETE /webhooks/:id": { id: "deleteWebhook", summary: "Delete a webhook and its subscriptions", answers: nothing },
  "GET /users/me/subscriptions": {
    id: "listMySubscriptions",
    summary: "The caller's subscriptions",
    query: mine,
    answers: page(subscriptionSchema),
  },
  "GET /orgs/:org_id/subscriptions": {
    id: "listSubscriptions",
    summary: "An organization's subscriptions",
    query: pages,
    answers: page(subscriptionSchema),
  },
  "POST /subscriptions": {
    id: "subscribe",
    summary: "Lead what an emitter emits to a listener",
    description: "In effect when it is answered. The same again is the same subscription.",
    query: owned,
    body: fields,
    bodyOrQuery: true,
    answers: one(subscriptionSchema),
  },
  "DELETE /subscriptions": {
    id: "unsubscribe",
    summary: "End a subscription",
    query: fields.extend(owned.shape),
    answers: one(subscriptionSchema),
  },
  "DELETE /subscriptions/:id": { id: "deleteSubscription", summary: "End a subscription by its id", answers: one(subscriptionSchema) },
  "GET /users/me/auto_subscriptions": {
    id: "listMyAutoSubscriptions",
    summary: "The caller's auto-subscriptions",
    query: mine,
    answers: page(autoSubscriptionSchema),
  },
  "GET /orgs/:org_id/auto_subscriptions": {
    id: "listAutoSubscriptions",
    summary: "An organization's auto-subscriptions",
    query: pages,
    answers: page(autoSubscriptionSchema),
  },
  "POST /auto_subscriptions": {
    id: "subscribeToAll",
    summary: "Lead the errors or logs of all sources that are yet to be made to a listener",
    query: owned,
    body: autoFields,
    bodyOrQuery: true,
    answers: one(autoSubscriptionSchema),
    errors: [404],
  },
  "DELETE /auto_subscriptions": {
    id: "unsubscribeFromAll",
    summary: "End an auto-subscription, with the subscriptions that it made",
    query: autoFields.extend(owned.shape),
    answers: one(autoSubscriptionSchema),
  },
} as const satisfies Operations;

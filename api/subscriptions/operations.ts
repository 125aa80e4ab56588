import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { operation } from "../context.ts";
import { checkChannel } from "../http/request/channels.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { listOperations } from "../list-operations.ts";
import { checkPresent } from "../resources/owner-present.ts";
import { createAutoSubscription, deleteAutoSubscription, findAutoSubscription } from "./auto-subscription.ts";
import { checkListener, checkSubscription } from "./check.ts";
import { createSubscription } from "./create.ts";
import { deleteSubscription } from "./delete.ts";
import { findOfCaller, findSubscription } from "./find.ts";
import { autoSubscriptionFields, connectedIn, listeningIn, subscriptionFields } from "./request.ts";
import { autoSubscriptionResponse, subscriptionResponse } from "./response.ts";
import { autoSubscriptionSchema, subscriptionSchema } from "./schemas.ts";
import { refuseTrigger } from "./trigger.ts";

/** The system channels whose events are delivered. */
const deliveredChannels = ["$errors", "$logs"];

export const subscriptionOperations = [
  ...listOperations({
    path: "subscriptions",
    id: "Subscriptions",
    noun: "subscriptions",
    kind: subscriptionKind,
    schema: subscriptionSchema,
    isUnpaged: true,
    respond: async (subscriptions) => subscriptions.map(subscriptionResponse),
  }),
  operation({
    route: "POST /subscriptions",
    id: "subscribe",
    change: { action: "create", kind: "Subscription" },
    summary: "Deliver the events of an emitter to a listener",
    description: "In effect when the response is sent. An equal request returns the same subscription.",
    query: ownerParameters,
    body: subscriptionFields,
    bodyOrQuery: true,
    responses: one(subscriptionSchema),
    handle: async (call, context) => {
      const { access, ports } = context;
      const request = connectedIn(call.body());
      checkChannel(request.channel, deliveredChannels);
      const owner = await access.owner(call);
      const check = async (): Promise<void> => {
        await checkSubscription(request, owner, call.user, access);
        await checkPresent(owner, ports);
      };
      await check();
      const created = await createSubscription(request, owner, check, context);
      await ports.pages.show(subscriptionKind, created);
      return ok(subscriptionResponse(created));
    },
  }),
  operation({
    route: "DELETE /subscriptions",
    id: "unsubscribe",
    change: { action: "delete", kind: "Subscription" },
    summary: "Delete a subscription by its ends",
    description: "The ends may be deleted already. A workflow's trigger is not deleted here, but with PUT of the workflow.",
    query: subscriptionFields.extend(ownerParameters.shape),
    responses: one(subscriptionSchema),
    errors: [409],
    handle: async (call, context) => {
      const request = connectedIn(call.query());
      const found = await findOfCaller(call, context.access, (owner) => findSubscription(request, owner, context));
      if (found === undefined)
        throw new NotFound(`no subscription of ${request.listener} to ${request.emitter} with event_name '${request.channel}' is found`);
      await refuseTrigger(found, context);
      await deleteSubscription(found, context);
      return ok(subscriptionResponse(found));
    },
  }),
  operation({
    route: "DELETE /subscriptions/:id",
    id: "deleteSubscription",
    change: { action: "delete", kind: "Subscription" },
    summary: "Delete a subscription by its id",
    responses: one(subscriptionSchema),
    errors: [409],
    handle: async (call, context) => {
      const found = await context.access.get(subscriptionKind, "subscription", pathOf(call, "id"), call.user);
      await refuseTrigger(found, context);
      await deleteSubscription(found, context);
      return ok(subscriptionResponse(found));
    },
  }),
  ...listOperations({
    path: "auto_subscriptions",
    id: "AutoSubscriptions",
    noun: "auto-subscriptions",
    kind: autoSubscriptionKind,
    schema: autoSubscriptionSchema,
    isUnpaged: true,
    respond: async (autoSubscriptions) => autoSubscriptions.map(autoSubscriptionResponse),
  }),
  operation({
    route: "POST /auto_subscriptions",
    id: "subscribeToAll",
    change: { action: "create", kind: "AutoSubscription" },
    summary: "Deliver the errors or logs of all future sources to a listener",
    query: ownerParameters,
    body: autoSubscriptionFields,
    bodyOrQuery: true,
    responses: one(autoSubscriptionSchema),
    handle: async (call, context) => {
      const { access, ports } = context;
      const request = listeningIn(call.body());
      const owner = await access.owner(call);
      const check = async (): Promise<void> => {
        await checkListener(request.listener, owner, call.user, access);
        await checkPresent(owner, ports);
      };
      await check();
      const created = await createAutoSubscription(request, owner, check, context);
      await ports.pages.show(autoSubscriptionKind, created);
      return ok(autoSubscriptionResponse(created));
    },
  }),
  operation({
    route: "DELETE /auto_subscriptions",
    id: "unsubscribeFromAll",
    change: { action: "delete", kind: "AutoSubscription" },
    summary: "Delete an auto-subscription and the subscriptions that it created",
    description: "The listener may be deleted already.",
    query: autoSubscriptionFields.extend(ownerParameters.shape),
    responses: one(autoSubscriptionSchema),
    handle: async (call, context) => {
      const request = listeningIn(call.query());
      const found = await findOfCaller(call, context.access, (owner) => findAutoSubscription(request, owner, context));
      if (found === undefined) throw new NotFound(`no auto-subscription of ${request.listener} to ${request.channel} is found`);
      await deleteAutoSubscription(found, context);
      return ok(autoSubscriptionResponse(found));
    },
  }),
];

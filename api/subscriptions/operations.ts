import { subscriptionKind } from "../../crds/subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { ok, type Call } from "../http/request/call.ts";
import { checkChannel } from "../http/request/channels.ts";
import { pathOf } from "../http/routing/handle.ts";
import { checkPresent } from "../resources/owner-present.ts";
import { subscriptionResponse } from "./response.ts";
import { checkSubscription } from "./check.ts";
import { createSubscription } from "./create.ts";
import { deleteSubscription } from "./delete.ts";
import { findOfCaller, findSubscription } from "./find.ts";
import { parseSubscription } from "./request.ts";
import type { ApiContext } from "../context.ts";

/** The system channels whose events are delivered. */
const deliveredChannels = ["$errors", "$logs"];

export function subscriptionRoutes(context: ApiContext) {
  const { access } = context;
  return {
    create: async (call: Call) => {
      const request = parseSubscription(call.parameters);
      checkChannel(request.channel, deliveredChannels);
      const owner = await access.owner(call);
      const check = async (): Promise<void> => {
        await checkSubscription(request, owner, call.user, access);
        await checkPresent(owner, context.ports);
      };
      await check();
      const created = await createSubscription(request, owner, check, context);
      await context.ports.pages.show(subscriptionKind, created);
      return ok(subscriptionResponse(created));
    },
    /** Does not look up the ends, which may be deleted. */
    delete: async (call: Call) => {
      const request = parseSubscription(call.parameters);
      const found = await findOfCaller(call, access, (owner) => findSubscription(request, owner, context));
      if (found === undefined)
        throw new NotFound(`no subscription of ${request.listener} to ${request.emitter} with event_name '${request.channel}' is found`);
      await deleteSubscription(found, context);
      return ok(subscriptionResponse(found));
    },
    deleteById: async (call: Call) => {
      const found = await access.get(subscriptionKind, "subscription", pathOf(call, "id"), call.user);
      await deleteSubscription(found, context);
      return ok(subscriptionResponse(found));
    },
  };
}

import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { ok, type Call } from "../http/request/call.ts";
import { checkPresent } from "../resources/owner-present.ts";
import { autoSubscriptionResponse } from "./auto-response.ts";
import { createAutoSubscription, deleteAutoSubscription, findAutoSubscription } from "./auto-subscription.ts";
import { checkListener } from "./check.ts";
import { findOfCaller } from "./find.ts";
import { parseAutoSubscription } from "./request.ts";
import type { ApiContext } from "../context.ts";

export function autoSubscriptionRoutes(context: ApiContext) {
  const { access } = context;
  return {
    create: async (call: Call) => {
      const request = parseAutoSubscription(call.parameters);
      const owner = await access.owner(call);
      const check = async (): Promise<void> => {
        await checkListener(request.listener, owner, call.user, access);
        await checkPresent(owner, context.ports);
      };
      await check();
      const created = await createAutoSubscription(request, owner, check, context);
      await context.ports.pages.show(autoSubscriptionKind, created);
      return ok(autoSubscriptionResponse(created));
    },
    /** Does not look up the listener, which may be deleted. Also deletes the subscriptions that it created. */
    delete: async (call: Call) => {
      const request = parseAutoSubscription(call.parameters);
      const found = await findOfCaller(call, access, (owner) => findAutoSubscription(request, owner, context));
      if (found === undefined) throw new NotFound(`no auto-subscription of ${request.listener} to ${request.channel} is found`);
      await deleteAutoSubscription(found, context);
      return ok(autoSubscriptionResponse(found));
    },
  };
}

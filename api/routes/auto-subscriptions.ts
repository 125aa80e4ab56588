import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { NotFound } from "../../domain/errors.ts";
import { ok, type Call } from "../http/call.ts";
import { checkPresent } from "../owners/present.ts";
import { autoSubscriptionResponse } from "../responses/auto-subscription.ts";
import { createAutoSubscription, deleteAutoSubscription, findAutoSubscription } from "../subscriptions/auto-subscription.ts";
import { checkListener } from "../subscriptions/check.ts";
import { findOfCaller } from "../subscriptions/find.ts";
import { parseAutoSubscription } from "../subscriptions/request.ts";
import type { ApiContext } from "./context.ts";

export function autoSubscriptionRoutes(context: ApiContext) {
  const { access } = context;
  return {
    create: async (call: Call) => {
      const wanted = parseAutoSubscription(call.parameters);
      const owner = await access.owner(call);
      const check = async (): Promise<void> => {
        await checkListener(wanted.listener, owner, call.user, access);
        await checkPresent(owner, context.ports);
      };
      await check();
      const made = await createAutoSubscription(wanted, owner, check, context);
      await context.ports.pages.show(autoSubscriptionKind, made);
      return ok(autoSubscriptionResponse(made));
    },
    /** The listener may be gone by now, so it is not looked for. What was subscribed so far ends with it. */
    delete: async (call: Call) => {
      const wanted = parseAutoSubscription(call.parameters);
      const found = await findOfCaller(call, access, (owner) => findAutoSubscription(wanted, owner, context));
      if (found === undefined) throw new NotFound(`no auto-subscription of ${wanted.listener} to ${wanted.channel} is found`);
      await deleteAutoSubscription(found, context);
      return ok(autoSubscriptionResponse(found));
    },
  };
}

import { z } from "zod";
import { resourceName } from "./resource.ts";
import { matching } from "./rules.ts";

/** References to emitters and listeners, for Subscription and AutoSubscription. */
const emitterKinds = ["Source", "Workflow"] as const;
const listenerKinds = ["Source", "Workflow", "Webhook"] as const;

export const emitterId = matching(
  /^((dc|p|o|u)_[0-9a-z]{1,57}|(dc|p)_\*)$/,
  60,
  "an emitter is the public id of a source (dc_…), a workflow (p_…), an organization (o_…) or the owner (u_…), or dc_* or p_* for all of the owner's; to name one by kind and name use emitterRef",
);
export const listenerId = matching(
  /^(dc|p|wh)_[0-9a-z]{1,57}$/,
  60,
  "a listener is the public id of a source (dc_…), a workflow (p_…) or a webhook (wh_…); to name one by kind and name use listenerRef",
);

export const emitterRef = z.object({
  kind: z.enum(emitterKinds).describe("Kind of the emitter."),
  name: resourceName.describe("Its name."),
});
export const listenerRef = z.object({
  kind: z.enum(listenerKinds).describe("Kind of the listener."),
  name: resourceName.describe("Its name."),
});

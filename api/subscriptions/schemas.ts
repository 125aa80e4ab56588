import { z } from "zod";

export const subscriptionSchema = z
  .object({
    id: z.string().describe("`sub_…`."),
    emitter_id: z.string().nullable(),
    listener_id: z.string().nullable(),
    event_name: z.string().describe("A channel; empty is the default one."),
  })
  .meta({ id: "Subscription" });

export const autoSubscriptionSchema = z
  .object({
    id: z.string().describe("`asub_…`."),
    listener_id: z.string().nullable(),
    event_name: z.enum(["$errors", "$logs"]).nullable(),
  })
  .meta({ id: "AutoSubscription" });

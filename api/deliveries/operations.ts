import { z } from "zod";
import { accepted, ok, okPage, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, parsePage, text } from "../http/request/parameters.ts";
import { checkTimes } from "../http/request/ranges.ts";
import { attemptResponse, backlogResponse, deadLetterResponse } from "./response.ts";
import { attemptOutcomes, type QueueHead, type StoredAttempt } from "../webhooks/ports.ts";
import { redriveDeadLetters, retryDelivery } from "./redeliver.ts";
import { webhookIdOf, webhookOf } from "../webhooks/webhook.ts";
import type { ApiContext } from "../context.ts";

const optional = <T>(schema: z.ZodType<T>) => z.union([z.literal("").transform(() => undefined), schema]).optional();
const timeMessage = "it must be a time in epoch milliseconds";
const epochMs = z.coerce.number(timeMessage).int(timeMessage).min(0, timeMessage);
export const filter = z.object({
  outcome: optional(z.enum(attemptOutcomes, `it must be one of ${attemptOutcomes.join(", ")}`)),
  event_id: optional(text),
  since: optional(epochMs),
  until: optional(epochMs),
});
export const expansion = z.object({ expand: optional(z.literal("event", "it must be 'event'")) });
const maxDeliveries = 1_000;
export const redrive = z.object({
  deliveries: z
    .array(text.max(200, "a delivery's id has at most 200 characters"))
    .max(maxDeliveries, `it must have at most ${maxDeliveries} ids; without it, all dead letters are redriven`)
    .optional(),
});

/** Attempts, backlog and dead letters of a webhook, and their redelivery. */
export function deliveryRoutes(context: ApiContext) {
  const { deliveries, backlogs } = context.ports;
  /** The last attempt that is still stored. */
  const lastAttemptOf = async (head: QueueHead | undefined, webhook: string): Promise<StoredAttempt | undefined> => {
    if (head === undefined || head.attempts === 0) return undefined;
    return (await deliveries.pageAttempts(webhook, { limit: 1, cursor: null, delivery: head.delivery })).items[0];
  };
  return {
    backlog: async (call: Call) => {
      const webhook = await webhookIdOf(call, context);
      const backlog = await backlogs.read(webhook);
      return ok(backlogResponse(backlog, await lastAttemptOf(backlog.head, webhook)));
    },
    attempts: async (call: Call) => {
      const { outcome, event_id: event, since: sinceMs, until: untilMs } = parse(filter, call.parameters);
      checkTimes(sinceMs, untilMs);
      const page = parsePage(call.parameters);
      const found = await deliveries.pageAttempts(await webhookIdOf(call, context), {
        ...page,
        ...(outcome === undefined ? {} : { outcome }),
        ...(event === undefined ? {} : { event }),
        ...(sinceMs === undefined ? {} : { sinceMs }),
        ...(untilMs === undefined ? {} : { untilMs }),
      });
      return okPage(found, attemptResponse);
    },
    deadLetters: async (call: Call) => {
      const { expand } = parse(expansion, call.parameters);
      const page = parsePage(call.parameters);
      const found = await deliveries.pageDeadLetters(await webhookIdOf(call, context), page);
      return okPage(found, (letter) => deadLetterResponse(letter, expand === "event"));
    },
    redrive: async (call: Call) => {
      const { deliveries: chosen } = parse(redrive, call.body);
      const queued = await redriveDeadLetters(await webhookOf(call, context), chosen, context);
      return accepted({ queued });
    },
    purge: async (call: Call) => ok({ deleted: await deliveries.deleteDeadLetters(await webhookIdOf(call, context)) }),
    retry: async (call: Call) => {
      const delivery = pathOf(call, "id");
      const webhook = await retryDelivery(delivery, call.user, context);
      return accepted({ delivery_id: delivery, webhook_id: webhook, status: "queued" });
    },
  };
}

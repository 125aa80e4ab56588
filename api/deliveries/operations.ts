import { z } from "zod";
import { operation, type ApiContext } from "../context.ts";
import { flag, optionalParameter, pages, parsePage, text } from "../http/request/parameters.ts";
import { checkTimes } from "../http/request/ranges.ts";
import { accepted, ok, okList } from "../http/response/replies.ts";
import { inProgress, one, page } from "../http/response/schemas.ts";
import type { Call } from "../http/request/call.ts";
import { publicIdOf } from "../resources/identity.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { pathOf } from "../http/routing/handle.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import type { PageRequest } from "../../domain/page.ts";
import { attemptOutcomes, type AttemptFilter, type QueueHead, type StoredAttempt } from "../webhooks/ports.ts";
import { webhookIdOf, webhookOf } from "../webhooks/webhook.ts";
import { readDelivery } from "./read-delivery.ts";
import { planRedrive, retryDelivery, type DeadLetterSelection } from "./redeliver.ts";
import {
  attemptResponse,
  backlogResponse,
  deadLetterResponse,
  deliveryResponse,
  failedSendResponse,
  sendAttemptResponse,
} from "./response.ts";
import {
  attemptSchema,
  backlogSchema,
  deadLetterSchema,
  deliverySchema,
  failedSendSchema,
  purgedSchema,
  redrivenSchema,
  retriedSchema,
  sendAttemptSchema,
} from "./schemas.ts";

const timeMessage = "it must be a time in epoch milliseconds";
const epochMs = z.coerce.number(timeMessage).int(timeMessage).min(0, timeMessage);
const attemptFilter = z.object({
  outcome: optionalParameter(z.enum(attemptOutcomes, `it must be one of ${attemptOutcomes.join(", ")}`)).describe(
    "Only attempts with this outcome.",
  ),
  since: optionalParameter(epochMs).describe("Start of the time range, epoch milliseconds."),
  until: optionalParameter(epochMs).describe("End of the time range, epoch milliseconds."),
});
const expansion = z.object({
  expand: optionalParameter(z.literal("event", "it must be 'event'")).describe("`event`: returns whole events."),
});
const maxDeliveries = 1_000;
const diedAt = z.int(timeMessage).min(0, timeMessage).optional();
const redrive = z.object({
  deliveries: z
    .array(text.max(200, "a delivery's id has at most 200 characters"))
    .max(maxDeliveries, `it must have at most ${maxDeliveries} ids; without it, all dead letters are redriven`)
    .optional()
    .describe("Ids of deliveries; by default all dead letters."),
  since_ms: diedAt.describe("Only dead letters whose last attempt failed at this time or later, epoch milliseconds."),
  until_ms: diedAt.describe("Only dead letters whose last attempt failed before this time, epoch milliseconds."),
  dry_run: flag.optional().describe("True: counts them, and redelivers none."),
});

/** Attempts, backlog and dead letters of a webhook, and their redelivery; the same of what `$.send` of a workflow asked for, and events that could not wait for it. */
export const deliveryOperations = [
  operation({
    route: "GET /webhooks/:id/backlog",
    id: "getBacklog",
    summary: "Get the backlog of a webhook",
    description: "How many deliveries wait, until when, and which one an ordered webhook waits for.",
    responses: one(backlogSchema),
    handle: async (call, context) => {
      const webhook = await webhookIdOf(call, context);
      const backlog = await context.ports.backlogs.read(webhook);
      return ok(backlogResponse(backlog, await lastAttemptOf(backlog.head, webhook, context)));
    },
  }),
  operation({
    route: "GET /webhooks/:id/deliveries",
    id: "listAttempts",
    summary: "List attempts at deliveries to a webhook",
    query: attemptFilter.extend({
      event_id: optionalParameter(text).describe("Id of an event, `<epoch milliseconds>-<sequence>`."),
      ...pages.shape,
    }),
    responses: page(attemptSchema),
    handle: async (call, context) => {
      const { event_id: event, ...filter } = call.query();
      const page = { ...attemptsPage(call.parameters, filter), ...(event === undefined ? {} : { event }) };
      const webhook = await webhookIdOf(call, context);
      return okList((part) => context.ports.deliveries.pageAttempts(webhook, { ...page, ...part }), page, attemptResponse);
    },
  }),
  operation({
    route: "GET /webhooks/:id/dead_letters",
    id: "listDeadLetters",
    summary: "List deliveries whose last attempt failed",
    query: expansion.extend(pages.shape),
    responses: page(deadLetterSchema),
    handle: async (call, context) => {
      const { expand } = call.query();
      const request = parsePage(call.parameters);
      const webhook = await webhookIdOf(call, context);
      const read = (part: PageRequest) => context.ports.deliveries.pageDeadLetters(webhook, part);
      return okList(read, request, (letter) => deadLetterResponse(letter, expand === "event"));
    },
  }),
  operation({
    route: "DELETE /webhooks/:id/dead_letters",
    id: "purgeDeadLetters",
    change: { action: "delete_dead_letters", kind: "Webhook" },
    summary: "Delete all dead letters",
    responses: one(purgedSchema),
    handle: async (call, context) => ok({ deleted: await context.ports.deliveries.deleteDeadLetters(await webhookIdOf(call, context)) }),
  }),
  operation({
    route: "POST /webhooks/:id/dead_letters/redrive",
    id: "redriveDeadLetters",
    change: { action: "redrive", kind: "Webhook", unlessDryRun: true },
    summary: "Deliver dead letters again",
    description:
      "All of them, those of a time range, or those of some deliveries. They are posted oldest first, at the rate of a replay: 200 at once, then 50 a second for each owner and host.",
    body: redrive,
    neverEmpty: ["deliveries", "since_ms", "until_ms", "dry_run"],
    responses: { ...one(redrivenSchema), ...inProgress(redrivenSchema) },
    errors: [409],
    handle: async (call, context) => {
      const webhook = await webhookOf(call, context);
      const { dry_run: isDry, ...selected } = call.body();
      const { matching, request } = await planRedrive(webhook, selectionOf(selected), context);
      if (isDry === true) return ok({ matching, queued: 0 });
      if (request !== undefined) await context.ports.redeliveries.request(request);
      return accepted({ matching, queued: matching });
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/deliveries",
    id: "listSendAttempts",
    summary: "List attempts of what `$.send` of a workflow asked for",
    description: "The last 500 attempts of `$.send.http`, `$.send.email` and `$.send.s3`, newest first.",
    query: attemptFilter.extend({ run_id: optionalParameter(text).describe("Id of a run, `r_…`."), ...pages.shape }),
    responses: page(sendAttemptSchema),
    handle: async (call, context) => {
      const { run_id: event, ...filter } = call.query();
      const page = { ...attemptsPage(call.parameters, filter), ...(event === undefined ? {} : { event }) };
      const workflow = await workflowIdOf(call, context);
      return okList((part) => context.ports.deliveries.pageAttempts(workflow, { ...page, ...part }), page, sendAttemptResponse);
    },
  }),
  operation({
    route: "GET /workflows/:workflow_id/dead_letters",
    id: "listFailedSends",
    summary: "List what `$.send` of a workflow asked for and whose last attempt failed, and events that could not wait for it",
    query: pages,
    responses: page(failedSendSchema),
    handle: async (call, context) => {
      const request = parsePage(call.parameters);
      const workflow = await workflowIdOf(call, context);
      return okList((part) => context.ports.deliveries.pageDeadLetters(workflow, part), request, failedSendResponse);
    },
  }),
  operation({
    route: "GET /deliveries/:id",
    id: "getDelivery",
    summary: "Get a delivery to a webhook",
    description: "With the headers that its attempts sent, and the headers and the beginning of the body that they received.",
    responses: one(deliverySchema),
    handle: async (call, context) => ok(deliveryResponse(await readDelivery(pathOf(call, "id"), call.user, context))),
  }),
  operation({
    route: "POST /deliveries/:id/retry",
    id: "retryDelivery",
    change: { action: "retry", kind: "Delivery" },
    summary: "Attempt a delivery again now",
    description: "A dead letter, or a delivery that waits for its next attempt; of a webhook, or of a workflow.",
    responses: inProgress(retriedSchema),
    errors: [409],
    handle: async (call, context) => {
      const delivery = pathOf(call, "id");
      const retried = await retryDelivery(delivery, call.user, context);
      const of = isId("workflow", retried) ? { workflow_id: retried } : { webhook_id: retried };
      return accepted({ delivery_id: delivery, ...of, status: "queued" as const });
    },
  }),
];

/** @throws InvalidInput for ids together with a time range, and for a range that is empty or in seconds */
function selectionOf({ deliveries, since_ms: sinceMs, until_ms: untilMs }: Omit<z.output<typeof redrive>, "dry_run">): DeadLetterSelection {
  checkTimes(sinceMs, untilMs, ["since_ms", "until_ms"]);
  if (deliveries === undefined) return { ...(sinceMs === undefined ? {} : { sinceMs }), ...(untilMs === undefined ? {} : { untilMs }) };
  if (sinceMs !== undefined || untilMs !== undefined)
    throw new InvalidInput("nothing was done: deliveries was sent with a time range: send either the ids, or since_ms and until_ms");
  return { deliveries };
}

/** The public id of the workflow in the path, if the caller may see it. @throws NotFound */
const workflowIdOf = async (call: Call, { access }: ApiContext): Promise<string> =>
  publicIdOf(await access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user));

function attemptsPage(
  parameters: Parameters<typeof parsePage>[0],
  { outcome, since: sinceMs, until: untilMs }: Omit<z.output<typeof attemptFilter>, "event_id">,
): PageRequest & AttemptFilter {
  checkTimes(sinceMs, untilMs);
  return {
    ...parsePage(parameters),
    ...(outcome === undefined ? {} : { outcome }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** The last attempt that is still stored. */
async function lastAttemptOf(head: QueueHead | undefined, webhook: string, { ports }: ApiContext): Promise<StoredAttempt | undefined> {
  if (head === undefined || head.attempts === 0) return undefined;
  return (await ports.deliveries.pageAttempts(webhook, { limit: 1, cursor: null, delivery: head.delivery })).items[0];
}

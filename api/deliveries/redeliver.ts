import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import type { DiedRange, RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import { Conflict } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import type { User } from "../http/ports.ts";
import { notFound } from "../resources/not-found.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { checkActive, type WebhookResource } from "../webhooks/webhook.ts";

/** Dead letters of a webhook: of these deliveries, or of a time range, which may be unbounded. */
export type DeadLetterSelection = { readonly deliveries: readonly string[] } | DiedRange;

export interface Redrive {
  /** Number of selected dead letters. */
  readonly matching: number;
  /** What to request of the delivery role; undefined: nothing is selected. */
  readonly request: RedeliveryRequest | undefined;
}

/** Plans the redelivery of the dead letters of a selection, ignoring other ids. @throws Conflict while the webhook is inactive */
export async function planRedrive(webhook: WebhookResource, selection: DeadLetterSelection, { ports }: ApiContext): Promise<Redrive> {
  checkActive(webhook);
  const id = publicIdOf(webhook);
  if ("deliveries" in selection) {
    const dead = await ports.deliveries.findDeadDeliveries(id, selection.deliveries);
    return { matching: dead.length, request: dead.length === 0 ? undefined : { webhook: id, deliveries: [...dead] } };
  }
  const { count, newest } = await ports.deliveries.countDeadLetters(id, selection);
  const isAll = selection.sinceMs === undefined && selection.untilMs === undefined;
  if (newest === undefined) return { matching: 0, request: undefined };
  return { matching: count, request: { webhook: id, ...(isAll ? { upTo: newest } : { range: { upTo: newest, ...selection } }) } };
}

/** @returns the id of the webhook, or of the workflow of a send @throws NotFound, also for deliveries of other owners; Conflict if it is neither dead nor waiting for a retry */
export async function retryDelivery(delivery: string, user: User, { access, ports }: ApiContext): Promise<string> {
  const found = await ports.deliveries.findDelivery(delivery);
  if (found === undefined) throw notFound("delivery", delivery);
  const isSend = isId("workflow", found.webhook);
  const webhook = isSend ? undefined : await access.get(webhookKind, "webhook", found.webhook, user);
  if (isSend) await access.get(workflowKind, "workflow", found.webhook, user);
  if (found.state === "delivered")
    throw new Conflict(`delivery ${delivery} has arrived, so it cannot be retried`, { code: "already_delivered" });
  if (found.state === "ended")
    throw new Conflict(`delivery ${delivery} is not a dead letter: it was deleted, was a test, or is being retried`, {
      code: "no_dead_letter",
    });
  if (webhook !== undefined) checkActive(webhook);
  await ports.redeliveries.request({ webhook: found.webhook, deliveries: [delivery] });
  return found.webhook;
}

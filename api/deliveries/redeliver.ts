import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { Conflict } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import type { User } from "../http/ports.ts";
import { notFound } from "../resources/not-found.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import { checkActive, type WebhookResource } from "../webhooks/webhook.ts";

/**
 * Requests redelivery of these dead letters, or of all current ones. The delivery role deletes them when they are stored as deliveries.
 * @returns the number of requested dead letters, ignoring other ids @throws Conflict while the webhook is inactive
 */
export async function redriveDeadLetters(
  webhook: WebhookResource,
  deliveries: readonly string[] | undefined,
  { ports }: ApiContext,
): Promise<number> {
  checkActive(webhook);
  const id = publicIdOf(webhook);
  if (deliveries === undefined) {
    const { items, total } = await ports.deliveries.pageDeadLetters(id, { limit: 1, cursor: null });
    if (items[0] !== undefined) await ports.redeliveries.request({ webhook: id, upTo: items[0].id });
    return total;
  }
  const found = await Promise.all([...new Set(deliveries)].map((delivery) => ports.deliveries.findDeadLetter(id, delivery)));
  const dead = found.flatMap((letter) => (letter === undefined ? [] : [letter.delivery]));
  if (dead.length > 0) await ports.redeliveries.request({ webhook: id, deliveries: dead });
  return dead.length;
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

import type { RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import type { Deliverer } from "./deliver.ts";
import { decodeDelivery, encodeDelivery } from "../routing/delivery.ts";
import { redelivery } from "../record/dead-letter.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { StoredDeadLetter } from "../record/dead-letter.ts";
import type { OrderedWebhooks } from "../ordered/ordered-webhooks.ts";
import type { Routes } from "../routing/routes.ts";

/** Of events of half a mebibyte each, so many are read at once. */
const mostAtOnce = 50;

type Ports = Pick<DeliveryPorts, "deliveries" | "history" | "clock" | "log">;

/**
 * Makes what somebody asked for due now: what waits is due in place of later, a dead letter becomes a delivery again. The delivery
 * is stored first, then the dead letter goes: killed in between, the request comes again and the delivery's id tells that it is there.
 * What has meanwhile been delivered or is under way is left as it is.
 */
export async function redeliver(
  request: RedeliveryRequest,
  routes: Routes,
  ordered: Pick<OrderedWebhooks, "attemptNow">,
  deliverer: Deliverer,
  ports: Ports,
): Promise<void> {
  const { webhook } = request;
  const keys = routes.webhook(webhook)?.keys ?? [];
  if (keys.length === 0)
    return ports.log.warn(
      { op: "delivery.redeliver", "webhook.id": webhook },
      "nothing can be posted to the webhook: its dead letters stay",
    );
  if ("upTo" in request) return reviveUpTo(webhook, request.upTo, ports);
  for (const id of request.deliveries) {
    if (routes.wasOrdered(webhook) && (await ordered.attemptNow(webhook, id))) continue;
    const scheduled = await ports.deliveries.findScheduled(webhook, id);
    if (scheduled !== undefined) await deliverer.later(decodeDelivery(scheduled), ports.clock.now());
    const letter = await ports.history.findDeadLetter(webhook, id);
    if (letter !== undefined) await revive(webhook, [letter], ports);
  }
}

async function reviveUpTo(webhook: string, upTo: string, ports: Ports): Promise<void> {
  for (;;) {
    const letters = await ports.history.oldestDeadLetters(webhook, upTo, mostAtOnce);
    if (letters.length === 0) return;
    await revive(webhook, letters, ports);
  }
}

/** Its message's id is the dead letter's: killed in between, the same again is ignored, and one that has died again is another. */
async function revive(webhook: string, letters: readonly StoredDeadLetter[], { deliveries, history, clock }: Ports): Promise<void> {
  const now = clock.now();
  await Promise.all(
    letters.map((letter) => {
      const delivery = redelivery(letter);
      return deliveries.schedule(webhook, delivery.id, encodeDelivery(delivery), now, `${delivery.id}@${letter.id}`);
    }),
  );
  await history.removeDeadLetters(
    webhook,
    letters.map(({ id }) => id),
  );
}

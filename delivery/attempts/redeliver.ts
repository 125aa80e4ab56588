import type { Clock } from "../../domain/clock.ts";
import type { RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { Log } from "../../domain/log.ts";
import { redelivery, type StoredDeadLetter } from "../record/dead-letter.ts";
import type { DeadLetters } from "../record/ports.ts";
import { decodeDelivery, encodeDelivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import type { Deliverer } from "./deliver.ts";
import type { Deliveries } from "./ports.ts";

/** Dead letters that are read at once; the event of each may have half a mebibyte. */
const batchSize = 50;

export interface RedeliverPorts {
  readonly deliveries: Pick<Deliveries, "schedule" | "findScheduled">;
  readonly history: Omit<DeadLetters, "recordDeadLetters">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/**
 * Makes the requested deliveries due now: those that wait for a retry, and dead letters. The delivery is stored before its dead letter is
 * deleted. After a crash in between the request is repeated, and the message id shows that the delivery is already stored. A delivery
 * that has been delivered in the meantime, or is being attempted, is left alone.
 */
export async function redeliver(request: RedeliveryRequest, routes: Routes, deliverer: Deliverer, ports: RedeliverPorts): Promise<void> {
  const { webhook } = request;
  // The sends of a workflow name it in place of a webhook.
  const isWorkflow = kindOfId(webhook) === "workflow";
  if (!isWorkflow && (routes.webhook(webhook)?.keys ?? []).length === 0)
    return ports.log.warn(
      { op: "delivery.redeliver", "webhook.id": webhook },
      "the webhook is switched off or deleted: its dead letters are kept",
    );
  if ("upTo" in request) return redeliverUpTo(webhook, request.upTo, ports);
  for (const id of request.deliveries) {
    const scheduled = await ports.deliveries.findScheduled(webhook, id);
    if (scheduled !== undefined) await deliverer.schedule(decodeDelivery(scheduled), ports.clock.now());
    const letter = await ports.history.findDeadLetter(webhook, id);
    if (letter !== undefined) await redeliverLetters(webhook, [letter], ports);
  }
}

async function redeliverUpTo(webhook: string, upTo: string, ports: RedeliverPorts): Promise<void> {
  for (;;) {
    const letters = await ports.history.oldestDeadLetters(webhook, upTo, batchSize);
    if (letters.length === 0) return;
    await redeliverLetters(webhook, letters, ports);
  }
}

/** The message id contains the dead letter's id: a repetition is ignored, while a delivery that failed again has another dead letter. */
async function redeliverLetters(
  webhook: string,
  letters: readonly StoredDeadLetter[],
  { deliveries, history, clock }: RedeliverPorts,
): Promise<void> {
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

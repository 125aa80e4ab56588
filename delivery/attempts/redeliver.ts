import type { Clock } from "../../domain/clock.ts";
import type { DeadLetterRange, RedeliveryRequest } from "../../domain/delivery/redelivery.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { Log } from "../../domain/log.ts";
import { redelivery, type StoredDeadLetter } from "../record/dead-letter.ts";
import type { DeadLetters } from "../record/ports.ts";
import { decodeDelivery, encodeDelivery } from "../routing/delivery.ts";
import type { Pace } from "../routing/dispatch.ts";
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

export interface RedeliverParts {
  readonly routes: Routes;
  readonly deliverer: Deliverer;
  readonly pace: Pace;
}

/** A single delivery does not wait behind those of a large request. */
const unpaced: Pace = { waitMs: () => 0 };

/**
 * Makes the requested deliveries due: a single one at once, also one that waits for a retry; several dead letters at the pace of their host. The
 * delivery is stored before its dead letter is deleted. After a crash in between the request is repeated, and the message id shows that the delivery is already stored. A delivery
 * that has been delivered in the meantime, or is being attempted, is left alone.
 */
export async function redeliver(
  request: RedeliveryRequest,
  { routes, deliverer, pace }: RedeliverParts,
  ports: RedeliverPorts,
): Promise<void> {
  const { webhook } = request;
  // The sends of a workflow name it in place of a webhook.
  const isWorkflow = kindOfId(webhook) === "workflow";
  if (!isWorkflow && (routes.webhook(webhook)?.keys ?? []).length === 0)
    return ports.log.warn(
      { op: "delivery.redeliver", "webhook.id": webhook },
      "the webhook is switched off or deleted: its dead letters are kept",
    );
  if (!("deliveries" in request)) {
    const range = "range" in request ? request.range : { upTo: request.upTo };
    return redeliverRange(webhook, range, { pace, ...ports });
  }
  const [only, ...others] = request.deliveries;
  const isSingle = others.length === 0;
  // Of several, what is scheduled may wait for its turn at this pace: a request that is repeated must not make it due.
  const scheduled = isSingle && only !== undefined ? await ports.deliveries.findScheduled(webhook, only) : undefined;
  if (scheduled !== undefined) await deliverer.schedule(decodeDelivery(scheduled), ports.clock.now());
  const own = { pace: isSingle ? unpaced : pace, ...ports };
  for (const id of request.deliveries) {
    const letter = await ports.history.findDeadLetter(webhook, id);
    if (letter !== undefined) await redeliverLetters(webhook, [letter], own);
  }
}

type Redelivering = RedeliverPorts & Pick<RedeliverParts, "pace">;

async function redeliverRange(webhook: string, range: DeadLetterRange, ports: Redelivering): Promise<void> {
  for (;;) {
    const letters = await ports.history.oldestDeadLetters(webhook, range, batchSize);
    if (letters.length === 0) return;
    await redeliverLetters(webhook, letters, ports);
  }
}

/** The message id contains the dead letter's id: a repetition is ignored, while a delivery that failed again has another dead letter. */
async function redeliverLetters(
  webhook: string,
  letters: readonly StoredDeadLetter[],
  { deliveries, history, clock, pace }: Redelivering,
): Promise<void> {
  const now = clock.now();
  await Promise.all(
    letters.map((letter) => {
      const delivery = redelivery(letter);
      const at = now + Math.ceil(pace.waitMs(delivery, now));
      return deliveries.schedule(webhook, delivery.id, encodeDelivery(delivery), at, `${delivery.id}@${letter.id}`);
    }),
  );
  await history.removeDeadLetters(
    webhook,
    letters.map(({ id }) => id),
  );
}

import { InvalidInput, LimitExceeded, Unavailable } from "../domain/errors.ts";
import { retry } from "../domain/retry.ts";
import type { Delivery } from "./routing/delivery.ts";
import type { DeliveryPorts } from "./ports.ts";

const retryMs = 500;

/**
 * Repeats an action that fails because NATS or Postgres is away until it succeeds; false when it is stopped before. An error that
 * repeating cannot change is handed to `giveUp`, which is repeated in turn: one message that cannot be stored holds up nobody else.
 */
export async function untilDone(
  action: () => Promise<void>,
  delivery: Pick<Delivery, "id">,
  { log }: Pick<DeliveryPorts, "log">,
  signal: AbortSignal,
  giveUp?: (error: Error) => Promise<void>,
): Promise<boolean> {
  const onFailure = (error: unknown): void =>
    log.warn({ op: "delivery.settle", "delivery.id": delivery.id, err: error }, "a delivery is not settled yet, trying again");
  const isTransient = (error: unknown): boolean => !isPermanent(error);
  try {
    await retry(action, { firstMs: retryMs, signal, isTransient, onFailure });
    return true;
  } catch (error) {
    if (!isPermanent(error)) return false;
    log.error({ op: "delivery.abandon", "delivery.id": delivery.id, err: error }, "a delivery cannot be settled and is not tried again");
    return giveUp === undefined || untilDone(() => giveUp(error), delivery, { log }, signal);
  }
}

/** The message itself is wrong, or too large: it would be refused again. */
export const isPermanent = (error: unknown): error is InvalidInput | LimitExceeded =>
  error instanceof InvalidInput || error instanceof LimitExceeded;

/** NATS refuses the message because the stream is at its limit. */
export const isStoreFull = (error: unknown): error is Unavailable => error instanceof Unavailable && error.code === "store_full";

export function assertDone(done: boolean): void {
  if (!done) throw new Error("stopped before the delivery was settled");
}

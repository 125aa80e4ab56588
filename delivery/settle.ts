import { InvalidInput, LimitExceeded, Unavailable } from "../domain/errors.ts";
import type { Log } from "../domain/log.ts";
import { retry } from "../domain/retry.ts";
import type { Delivery } from "./routing/delivery.ts";

const retryMs = 500;

/**
 * Repeats an action until it succeeds, because NATS or Postgres may be away. Returns false if the signal aborts first. An error that
 * cannot go away is passed to `giveUp`, which is repeated in turn: one message that cannot be stored must not hold up the others.
 */
export async function settle(
  action: () => Promise<unknown>,
  delivery: Pick<Delivery, "id">,
  { log }: { readonly log: Pick<Log, "warn" | "error"> },
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
    log.error({ op: "delivery.abandon", "delivery.id": delivery.id, err: error }, "a delivery cannot be settled, giving up");
    return giveUp === undefined || settle(() => giveUp(error), delivery, { log }, signal);
  }
}

/** The message itself is invalid or too large, so it would be refused again. */
export const isPermanent = (error: unknown): error is InvalidInput | LimitExceeded =>
  error instanceof InvalidInput || error instanceof LimitExceeded;

/** NATS refuses the message because the stream is full. */
export const isStoreFull = (error: unknown): error is Unavailable => error instanceof Unavailable && error.code === "store_full";

export function assertSettled(settled: boolean): void {
  if (!settled) throw new Error("stopped before the delivery was settled");
}

/** Work that has begun and not ended. */
export class PendingWork {
  readonly #work = new Set<Promise<unknown>>();

  /** @param work never rejects */
  add(work: Promise<unknown>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work)); // Never rejects.
  }

  /** Resolves once all work that has been added so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#work);
  }
}

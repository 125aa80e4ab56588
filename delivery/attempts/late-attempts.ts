import { LRUCache } from "lru-cache";
import type { Outcome } from "../deliverers/webhook.ts";
import type { Delivery } from "../routing/delivery.ts";

/** A message that was handed out before it was withdrawn is here within that, unless there is a backlog. */
const rememberedMs = 30_000;
/** Under way or ended lately; beyond that the oldest are forgotten, and at worst made once more. */
const most = 20_000;

interface Late {
  readonly attempt: number;
  /** What came of it, once that is settled. */
  readonly settled: Promise<Outcome>;
}

/**
 * Attempts that outlived the patience: the next one is a message already, which may come due just as they end. An endpoint that answered
 * 200 after seven seconds got the event once more six milliseconds later.
 */
export class LateAttempts {
  readonly #byDelivery = new LRUCache<string, Late>({ max: most, ttl: rememberedMs });

  /** @param settled rejected: what came of it could not be written. @returns it */
  add({ id, attempt }: Delivery, settled: Promise<Outcome>): Promise<Outcome> {
    const late: Late = { attempt, settled };
    this.#byDelivery.set(id, late);
    const forget = (): void => void (this.#byDelivery.peek(id) === late && this.#byDelivery.delete(id));
    // From then on the next attempt is wanted when its message comes: nothing tells that one from another which came too early.
    settled.then(({ outcome }) => outcome === "retry" && forget(), forget);
    return settled;
  }

  /** Waits for an attempt of the delivery that is under way. Has one left nothing to do for this message? */
  async makesNeedless({ id, attempt, attemptsBefore }: Delivery): Promise<boolean> {
    const late = this.#byDelivery.get(id);
    // Whoever asks for it again wants it whatever came of it.
    if (late === undefined || late.attempt >= attempt || attemptsBefore !== undefined) return false;
    try {
      const outcome = await late.settled;
      // Asked to wait, it has a message of its own for later.
      return outcome.outcome !== "retry" || outcome.retryAfter !== undefined;
    } catch {
      return false;
    }
  }
}

import { LRUCache } from "lru-cache";
import type { ExternalOutcome } from "../destinations/destination.ts";
import type { Delivery } from "../routing/delivery.ts";

/** A message that was handed out before it was withdrawn arrives within this time, unless there is a backlog. */
const rememberedMs = 30_000;
/** Beyond this bound the oldest attempts are forgotten, and may be repeated once. */
const maxRemembered = 20_000;

interface LateAttempt {
  readonly attempt: number;
  /** Outcome, once it is settled. */
  readonly settled: Promise<ExternalOutcome>;
}

/**
 * Remembers attempts that took longer than the delivery deadline. The next attempt of such a delivery is already a message, which may
 * become due just as the late attempt ends: without this, an endpoint that returned 200 after seven seconds received the event again
 * six milliseconds later.
 */
export class LateAttempts {
  readonly #byDelivery = new LRUCache<string, LateAttempt>({ max: maxRemembered, ttl: rememberedMs });
  /** Attempts in flight, by owner. */
  readonly #inFlight = new Map<string, number>();

  /** Number of late attempts of the owner that have not ended. */
  inFlightOf(owner: string): number {
    return this.#inFlight.get(owner) ?? 0;
  }

  /** @param settled rejects if the outcome could not be written. @returns `settled` */
  add({ id, attempt }: Delivery, owner: string, settled: Promise<ExternalOutcome>): Promise<ExternalOutcome> {
    this.#inFlight.set(owner, this.inFlightOf(owner) + 1);
    const end = (): void => {
      const left = this.inFlightOf(owner) - 1;
      if (left > 0) this.#inFlight.set(owner, left);
      else this.#inFlight.delete(owner);
    };
    settled.then(end, end);
    const late: LateAttempt = { attempt, settled };
    this.#byDelivery.set(id, late);
    const forget = (): void => void (this.#byDelivery.peek(id) === late && this.#byDelivery.delete(id));
    // After a failure the next attempt must be made when its message is due.
    settled.then(({ outcome }) => outcome === "retry" && forget(), forget);
    return settled;
  }

  /** Waits for a late attempt of the delivery that is in flight. Returns true if its outcome makes this attempt unnecessary. */
  async supersedes({ id, attempt, attemptsBefore }: Delivery): Promise<boolean> {
    const late = this.#byDelivery.get(id);
    // A redelivery on request is attempted whatever the outcome was.
    if (late === undefined || late.attempt >= attempt || attemptsBefore !== undefined) return false;
    try {
      const outcome = await late.settled;
      // With a Retry-After, the next attempt was scheduled again for later.
      return outcome.outcome !== "retry" || outcome.retryAfter !== undefined;
    } catch {
      return false;
    }
  }
}

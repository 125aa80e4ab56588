import { TokenBuckets, type Rate } from "../../domain/limits/token-bucket.ts";
import type { Delivery } from "./delivery.ts";
import type { Pace } from "./dispatch.ts";
import type { Routes } from "./routes.ts";

/** Pairs of owner and host whose rate is remembered. The pair that has been idle longest is forgotten first. */
const maxPairs = 10_000;
/** At which replayed events and redelivered dead letters of one owner are posted to one host. */
const defaultPace: Rate = { burst: 200, perSecond: 50 };

/**
 * Bounds the rate of deliveries to webhooks for each owner and host. One request replays a whole history to any number of webhooks, or
 * redelivers ten thousand dead letters: without a bound, an owner could make Headwater flood a third party. Deliveries beyond the rate are
 * stored and become due later.
 */
export class HostPace implements Pace {
  readonly #routes: Pick<Routes, "find" | "webhook">;
  readonly #buckets: TokenBuckets;

  constructor(routes: Pick<Routes, "find" | "webhook">, pace = defaultPace) {
    this.#routes = routes;
    this.#buckets = new TokenBuckets(pace, maxPairs);
  }

  waitMs({ event, subscription, listener: id }: Delivery, atMs: number): number {
    // A redelivery does not need a subscription.
    const listener = this.#routes.find(subscription)?.listener ?? this.#routes.webhook(id);
    if (listener?.kind !== "webhook") return 0;
    return this.#buckets.of(`${event.owner} ${new URL(listener.url).hostname}`).reserve(atMs);
  }
}

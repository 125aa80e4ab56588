import { LRUCache } from "lru-cache";
import { TokenBucket } from "../../domain/limits/token-bucket.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryPorts, ReplayPace } from "../ports.ts";
import type { Dispatch } from "./router.ts";
import type { Routes } from "./routes.ts";

/** Pairs of owner and host whose pace is remembered. The pair that has been idle longest is forgotten first. */
const maxPairs = 10_000;
export const defaultReplayPace: ReplayPace = { burst: 200, perSecond: 50 };

/**
 * Dispatches replayed events to webhooks at a bounded rate for each owner and host. One request replays a whole history to any number of
 * webhooks: without a bound, an owner could make Headwater flood a third party. Deliveries beyond the rate are stored and become due later.
 */
export function pacedDispatch(
  dispatch: Dispatch,
  routes: Pick<Routes, "find">,
  { clock }: Pick<DeliveryPorts, "clock">,
  pace: ReplayPace = defaultReplayPace,
): Dispatch {
  const buckets = new LRUCache<string, TokenBucket>({ max: maxPairs });
  const waitMs = ({ event, subscription }: Delivery, now: number): number => {
    const listener = routes.find(subscription)?.listener;
    if (listener?.kind !== "webhook") return 0;
    const key = `${event.owner} ${new URL(listener.url).hostname}`;
    const bucket = buckets.get(key) ?? new TokenBucket(pace);
    buckets.set(key, bucket);
    return bucket.reserve(now);
  };
  return {
    ...dispatch,
    direct: (delivery, route, waitedMs) => {
      const now = clock.now();
      const wait = waitMs(delivery, now);
      return wait > 0 ? dispatch.later(delivery, now + Math.ceil(wait)) : dispatch.direct(delivery, route, waitedMs);
    },
    later: (delivery, atMs) => dispatch.later(delivery, atMs + Math.ceil(waitMs(delivery, atMs))),
  };
}

import { LRUCache } from "lru-cache";
import type { ReplayedEvent } from "../../domain/event/replay.ts";
import { TokenBucket } from "../../domain/limits/token-bucket.ts";
import type { DeliveryConfig, DeliveryPorts, ReplayPace } from "../ports.ts";
import { PendingWork } from "../settle.ts";
import type { Delivery } from "./delivery.ts";
import { KeyedChains } from "./keyed-chains.ts";
import type { Reading } from "./ports.ts";
import { routeEvent, type Dispatch } from "./router.ts";
import type { Routes } from "./routes.ts";

/** Pairs of owner and host whose rate is remembered. The pair that has been idle longest is forgotten first. */
const maxPairs = 10_000;
export const defaultReplayPace: ReplayPace = { burst: 200, perSecond: 50 };

export interface ReplayParts {
  readonly config: Pick<DeliveryConfig, "maxDirectListeners" | "replayPace">;
  readonly ports: Pick<DeliveryPorts, "replays" | "clock" | "log">;
  readonly routes: Routes;
  readonly dispatch: Dispatch;
  readonly signal: AbortSignal;
}

/** Routes replayed events to the current listeners, at a bounded rate. */
export async function readReplays({ config, ports, routes, dispatch, signal }: ReplayParts): Promise<Reading & { idle(): Promise<void> }> {
  const paced = pacedDispatch(dispatch, routes, ports, config.replayPace);
  const pending = new PendingWork();
  const route = async (text: string): Promise<void> => {
    const event = JSON.parse(text) as ReplayedEvent; // Only the API writes these, from typed values.
    // The chains are separate, so that emitted events do not wait for replayed ones.
    await routeEvent(event, routes, new KeyedChains(), paced, config.maxDirectListeners, ports.clock.now());
  };
  const report = (error: unknown): void => {
    if (!signal.aborted) ports.log.error({ op: "event.replay", err: error }, "an event cannot be replayed");
  };
  const reading = await ports.replays.read((text, done) => pending.add(route(text).then(done, report)));
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}

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
    attempt: (delivery, route, waitedMs) => {
      const now = clock.now();
      const wait = waitMs(delivery, now);
      return wait > 0 ? dispatch.schedule(delivery, now + Math.ceil(wait)) : dispatch.attempt(delivery, route, waitedMs);
    },
    schedule: (delivery, atMs) => dispatch.schedule(delivery, atMs + Math.ceil(waitMs(delivery, atMs))),
  };
}

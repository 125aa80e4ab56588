import type { ReplayedEvent } from "../../domain/event/replay.ts";
import { TokenBuckets, type Rate } from "../../domain/limits/token-bucket.ts";
import type { Log } from "../../domain/log.ts";
import { PendingWork } from "../settle.ts";
import type { Delivery } from "./delivery.ts";
import type { Pace } from "./dispatch.ts";
import { KeyedChains } from "./keyed-chains.ts";
import type { Reading, Replays } from "./ports.ts";
import { routeEvent, type RouterParts } from "./router.ts";
import type { Routes } from "./routes.ts";

/** Pairs of owner and host whose rate is remembered. The pair that has been idle longest is forgotten first. */
const maxPairs = 10_000;
/** At which replayed events of one owner are posted to one host. */
const defaultPace: Rate = { burst: 200, perSecond: 50 };

export interface ReplayParts {
  readonly router: RouterParts;
  readonly routes: Pick<Routes, "find">;
  readonly ports: { readonly replays: Replays; readonly log: Pick<Log, "error"> };
  readonly pace?: Rate | undefined;
  readonly signal: AbortSignal;
}

/** Routes replayed events to the current listeners, at a bounded rate. */
export async function readReplays({ router, routes, ports, pace, signal }: ReplayParts): Promise<Reading & { idle(): Promise<void> }> {
  const origin = { pace: new HostPace(routes, pace) };
  const pending = new PendingWork();
  const route = async (text: string): Promise<void> => {
    const event = JSON.parse(text) as ReplayedEvent; // Only the API writes these, from typed values.
    // The chains are separate, so that emitted events do not wait for replayed ones.
    await routeEvent(event, origin, new KeyedChains(), router);
  };
  const report = (error: unknown): void => {
    if (!signal.aborted) ports.log.error({ op: "event.replay", err: error }, "an event cannot be replayed");
  };
  const reading = await ports.replays.read((text, done) => pending.add(route(text).then(done, report)));
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}

/**
 * Bounds the rate of deliveries to webhooks for each owner and host. One request replays a whole history to any number of webhooks: without
 * a bound, an owner could make Headwater flood a third party. Deliveries beyond the rate are stored and become due later.
 */
class HostPace implements Pace {
  readonly #routes: Pick<Routes, "find">;
  readonly #buckets: TokenBuckets;

  constructor(routes: Pick<Routes, "find">, pace = defaultPace) {
    this.#routes = routes;
    this.#buckets = new TokenBuckets(pace, maxPairs);
  }

  waitMs({ event, subscription }: Delivery, atMs: number): number {
    const listener = this.#routes.find(subscription)?.listener;
    if (listener?.kind !== "webhook") return 0;
    return this.#buckets.of(`${event.owner} ${new URL(listener.url).hostname}`).reserve(atMs);
  }
}

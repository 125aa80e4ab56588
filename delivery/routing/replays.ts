import type { ReplayedEvent } from "../../domain/event/replay.ts";
import { Chains } from "./keyed-chains.ts";
import { routeEvent, type Dispatch } from "./router.ts";
import type { Routes } from "./routes.ts";

/**
 * Past event in, deliveries out, as the router does it: to those who listen now. Resolves when each is delivered or a message of its
 * own. The chain is its own, so that what is emitted now waits for none of it.
 */
export async function replayEvent(
  text: string,
  routes: Routes,
  dispatch: Dispatch,
  maxDirectListeners: number,
  now: number,
): Promise<void> {
  const event = JSON.parse(text) as ReplayedEvent; // Only the API writes these, from typed values.
  await routeEvent(event, routes, new Chains(), dispatch, maxDirectListeners, now);
}

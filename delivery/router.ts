import type { Commit } from "../domain/commit.ts";
import type { Route } from "../domain/deployment.ts";
import { firstDelivery, type Delivery, type RoutedEvent } from "./delivery.ts";
import type { Chains } from "./chains.ts";
import { routedEvents } from "./routed-events.ts";
import type { Routes } from "./routes.ts";

/** What the router hands deliveries to. Each promise resolves when the delivery is delivered or a message of its own. */
export interface Dispatch {
  /** First attempt now, within the patience; it has waited that long for those before it. */
  readonly direct: (delivery: Delivery, route: Route, waitedMs: number) => Promise<void>;
  /** A message of its own, due at that time. */
  readonly later: (delivery: Delivery, atMs: number) => Promise<void>;
}

/**
 * Event in, deliveries out. A commit is done when each of its deliveries is; a crash before that repeats them with the same ids.
 * Deliveries of one source to one listener go one after the other; with many listeners each becomes a message at once, so that a
 * crash does not repeat hundreds of requests.
 */
export async function routeCommit(
  commit: Commit,
  routes: Pick<Routes, "listeners">,
  chains: Chains,
  dispatch: Dispatch,
  mostDirectListeners: number,
  now: number,
): Promise<void> {
  const hears = (channel: string) => routes.listeners({ source: commit.source, owner: commit.owner, channel }).length > 0;
  const deliveries = routedEvents(commit, hears).flatMap((event) => routeEvent(event, routes, chains, dispatch, mostDirectListeners, now));
  await Promise.all(deliveries);
}

/** A replay may be for one listener alone. */
export function routeEvent(
  event: RoutedEvent,
  routes: Pick<Routes, "listeners">,
  chains: Chains,
  dispatch: Dispatch,
  mostDirectListeners: number,
  now: number,
): readonly Promise<void>[] {
  const only = event.replay?.listener;
  const listeners = routes.listeners(event).filter(({ listener }) => only === undefined || listener.id === only);
  const dueAt = event.deliverAt ?? 0;
  return listeners.map((route) => {
    const delivery = firstDelivery(event, route);
    const postponed = dueAt > now || (route.listener.kind === "webhook" && listeners.length > mostDirectListeners);
    if (postponed) return dispatch.later(delivery, Math.max(dueAt, now));
    return chains.append(`${event.source} ${route.listener.id}`, (waitedMs) => dispatch.direct(delivery, route, waitedMs));
  });
}

import type { Commit } from "../../domain/run/commit.ts";
import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import { firstDelivery, type Delivery, type RoutedEvent, type ScheduledEvent } from "./delivery.ts";
import type { Chains } from "./keyed-chains.ts";
import { routedEvents, scheduledEventsOf } from "./routed-events.ts";
import type { Routes } from "./routes.ts";

/** What the router hands deliveries to. Each promise resolves when the delivery is delivered or a message of its own. */
export interface Dispatch {
  /** First attempt now, within the patience; it has waited that long for those before it. */
  readonly direct: (delivery: Delivery, route: Route, waitedMs: number) => Promise<void>;
  /** A message of its own, due at that time. */
  readonly later: (delivery: Delivery, atMs: number) => Promise<void>;
  /** Stored at the end of an ordered webhook's line; lines are in the order of these calls. `position`: that of their commit. */
  readonly enqueue: (webhook: string, deliveries: readonly Delivery[], position?: CommitPosition) => Promise<void>;
}

/** The same for a commit, whose events may not be due yet. */
export interface CommitDispatch extends Dispatch {
  /** Stored until it is due; its listeners are those of that time. */
  readonly scheduled: (event: ScheduledEvent) => Promise<void>;
}

export interface RoutedCommit {
  readonly commit: Commit;
  readonly position: CommitPosition;
}

/** One event on its way to one listener, and how it goes. */
interface Planned {
  readonly delivery: Delivery;
  readonly route: Route;
  readonly by: "line" | "chain" | "later";
}

/**
 * Event in, deliveries out. A commit is done when each of its deliveries is; a crash before that repeats them with the same ids.
 * Deliveries of one source to one listener go one after the other; with many listeners each becomes a message at once, so that a
 * crash does not repeat hundreds of requests. What an ordered webhook hears of a commit is put in its line at once.
 */
export async function routeCommit(
  { commit, position }: RoutedCommit,
  routes: Pick<Routes, "listeners">,
  chains: Chains,
  dispatch: CommitDispatch,
  maxDirectListeners: number,
  now: number,
): Promise<void> {
  const hears = (channel: string) => routes.listeners({ source: commit.source, owner: commit.owner, channel }).length > 0;
  const planned = routedEvents(commit, hears).flatMap((event) => planEvent(event, routes, maxDirectListeners));
  const scheduled = scheduledEventsOf(commit, position).map((event) => dispatch.scheduled(event));
  await Promise.all([...scheduled, dispatchAll(planned, chains, dispatch, now, position)]);
}

/** A replay may be for one listener alone. */
export async function routeEvent(
  event: RoutedEvent,
  routes: Pick<Routes, "listeners">,
  chains: Chains,
  dispatch: Dispatch,
  maxDirectListeners: number,
  now: number,
): Promise<void> {
  await dispatchAll(planEvent(event, routes, maxDirectListeners), chains, dispatch, now);
}

function planEvent(event: RoutedEvent, routes: Pick<Routes, "listeners">, maxDirectListeners: number): readonly Planned[] {
  const only = event.replay?.listener;
  const listeners = routes.listeners(event).filter(({ listener }) => only === undefined || listener.id === only);
  return listeners.map((route): Planned => {
    const { listener } = route;
    const delivery = firstDelivery(event, route);
    if (listener.kind === "webhook" && listener.ordered === true) return { delivery, route, by: "line" };
    return { delivery, route, by: listener.kind === "webhook" && listeners.length > maxDirectListeners ? "later" : "chain" };
  });
}

async function dispatchAll(planned: readonly Planned[], chains: Chains, dispatch: Dispatch, now: number, position?: CommitPosition) {
  const lines = Map.groupBy(
    planned.filter(({ by }) => by === "line"),
    ({ delivery }) => delivery.listener,
  );
  const stored = [...lines].map(([webhook, queued]) =>
    dispatch.enqueue(
      webhook,
      queued.map(({ delivery }) => delivery),
      position,
    ),
  );
  const others = planned.filter(({ by }) => by !== "line");
  await Promise.all([
    ...stored,
    ...others.map(({ delivery, route, by }) => {
      if (by === "later") return dispatch.later(delivery, now);
      return chains.append(`${delivery.event.source} ${route.listener.id}`, (waitedMs) => dispatch.direct(delivery, route, waitedMs));
    }),
  ]);
}

import type { Commit } from "../../domain/run/commit.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import { isEndMarker } from "../../domain/workflow/run-commit.ts";
import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import type { Log } from "../../domain/log.ts";
import { firstDelivery, type Delivery, type RoutedEvent, type ScheduledEvent } from "./delivery.ts";
import type { KeyedChains } from "./keyed-chains.ts";
import { routedEvents, scheduledEventsOf } from "./routed-events.ts";
import type { Routes } from "./routes.ts";
import { sendsOf } from "./sends.ts";

/** Where the router sends deliveries. Each promise resolves once the delivery is delivered or is a stored message of its own. */
export interface Dispatch {
  /** Makes the first attempt now. `route`: undefined for a send. `waitedMs`: time that the delivery waited for earlier ones of its source and listener. */
  readonly attempt: (delivery: Delivery, route: Route | undefined, waitedMs: number) => Promise<void>;
  /** Stores the delivery as a message of its own that is due at `atMs` (epoch ms). */
  readonly schedule: (delivery: Delivery, atMs: number) => Promise<void>;
  /** Delivers events of one source to an ordered webhook, after those of earlier calls. */
  readonly enqueue: (deliveries: readonly Delivery[]) => Promise<void>;
}

export interface CommitDispatch extends Dispatch {
  /** Stores a scheduled event until it is due. Its listeners are determined then. */
  readonly scheduleEvent: (event: ScheduledEvent) => Promise<void>;
  /** Carries out what `$.send` of one run asked for, or stores it. */
  readonly send: (sends: readonly Delivery[]) => Promise<void>;
}

export interface RoutedCommit {
  readonly commit: Commit;
  readonly position: CommitPosition;
}

interface PlannedDelivery {
  readonly delivery: Delivery;
  readonly route: Route;
  readonly by: "queue" | "chain" | "message";
}

/**
 * The commit in a message. Undefined for an end marker, which is no commit, and for an invalid commit, which could not be routed or recorded
 * and would hold up those behind it.
 */
export function parseCommit(text: string, subject: string, log: Log): Commit | undefined {
  const commit = readCommit(text, subject);
  if (commit === undefined && !isEndMarker(text))
    log.warn({ op: "commit.read", subject }, "a commit is left out: it is invalid or does not match its subject");
  return commit;
}

/**
 * Routes a commit: events in, deliveries out. Resolves once each delivery is settled or stored; a crash before that repeats the
 * deliveries under the same ids.
 *
 * | listener | its delivery |
 * |---|---|
 * | an ordered webhook | is attempted after all earlier ones of the same source, or stored in their queue |
 * | a webhook, one of more than `maxDirectListeners` | becomes a message at once, so that a crash does not repeat hundreds of requests |
 * | any other | is attempted now, after earlier deliveries of the same source to this listener |
 */
export async function routeCommit(
  { commit, position }: RoutedCommit,
  routes: Pick<Routes, "listeners">,
  chains: KeyedChains,
  dispatch: CommitDispatch,
  maxDirectListeners: number,
  now: number,
): Promise<void> {
  const hasListeners = (channel: string) => routes.listeners({ source: commit.source, owner: commit.owner, channel }).length > 0;
  const planned = routedEvents(commit, hasListeners).flatMap((event) => planDeliveries(event, routes, maxDirectListeners));
  const scheduled = scheduledEventsOf(commit, position).map((event) => dispatch.scheduleEvent(event));
  const sends = sendsOf(commit);
  const sent = sends.length === 0 ? [] : [dispatch.send(sends)];
  await Promise.all([...scheduled, ...sent, dispatchAll(planned, chains, dispatch, now)]);
}

/** Routes one event that belongs to no commit: a replayed event or a scheduled one that is due. */
export async function routeEvent(
  event: RoutedEvent,
  routes: Pick<Routes, "listeners">,
  chains: KeyedChains,
  dispatch: Dispatch,
  maxDirectListeners: number,
  now: number,
): Promise<void> {
  await dispatchAll(planDeliveries(event, routes, maxDirectListeners), chains, dispatch, now);
}

function planDeliveries(event: RoutedEvent, routes: Pick<Routes, "listeners">, maxDirectListeners: number): readonly PlannedDelivery[] {
  const only = event.replay?.listener;
  const listeners = routes.listeners(event).filter(({ listener }) => only === undefined || listener.id === only);
  return listeners.map((route): PlannedDelivery => {
    const { listener } = route;
    const delivery = firstDelivery(event, route);
    if (listener.kind === "webhook" && listener.ordered === true) return { delivery: { ...delivery, inOrder: true }, route, by: "queue" };
    return { delivery, route, by: listener.kind === "webhook" && listeners.length > maxDirectListeners ? "message" : "chain" };
  });
}

async function dispatchAll(planned: readonly PlannedDelivery[], chains: KeyedChains, dispatch: Dispatch, now: number): Promise<void> {
  const queued = Map.groupBy(
    planned.filter(({ by }) => by === "queue"),
    ({ delivery }) => chainOf(delivery),
  );
  const others = planned.filter(({ by }) => by !== "queue");
  await Promise.all([
    // In the chain of first attempts as well: the webhook may have become ordered while one is made.
    ...[...queued].map(([chain, ofWebhook]) => chains.append(chain, () => dispatch.enqueue(ofWebhook.map(({ delivery }) => delivery)))),
    ...others.map(({ delivery, route, by }) => {
      if (by === "message") return dispatch.schedule(delivery, now);
      return chains.append(chainOf(delivery), (waitedMs) => dispatch.attempt(delivery, route, waitedMs));
    }),
  ]);
}

const chainOf = ({ event, listener }: Delivery): string => `${event.source} ${listener}`;

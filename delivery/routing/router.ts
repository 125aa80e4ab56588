import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../domain/log.ts";
import type { Commit } from "../../domain/run/commit.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { isEndMarker } from "../../domain/workflow/run-commit.ts";
import { firstDelivery, type Delivery, type RoutedEvent } from "./delivery.ts";
import type { CommitOrigin, Dispatch, Origin } from "./dispatch.ts";
import { callsOf } from "./calls.ts";
import type { KeyedChains } from "./keyed-chains.ts";
import { routedEvents, scheduledEventsOf } from "./routed-events.ts";
import type { Routes } from "./routes.ts";
import { sendsOf } from "./sends.ts";

export interface RouterParts {
  readonly routes: Pick<Routes, "at" | "listeners">;
  readonly dispatch: Pick<Dispatch, "attempt" | "schedule" | "enqueue" | "scheduleEvent" | "rescheduleEvent">;
  /** Bound on listeners of one event, and on sends of one run, that are attempted directly; with more, each becomes a message at once. */
  readonly maxDirectListeners: number;
  readonly clock: Clock;
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
export function parseCommit(text: string, subject: string, log: Pick<Log, "warn">): Commit | undefined {
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
 *
 * What `$.send` of the run asked for, and a call of a workflow, is attempted now, unless there is more than `maxDirectListeners`.
 *
 * @param chains first attempts of earlier commits
 */
export async function routeCommit(commit: Commit, origin: CommitOrigin, chains: KeyedChains, parts: RouterParts): Promise<void> {
  const { dispatch, maxDirectListeners, clock } = parts;
  const { position } = origin.commit;
  const now = clock.now();
  const routes = parts.routes.at(position);
  const hasListeners = (channel: string) => routes.listeners({ source: commit.source, owner: commit.owner, channel }).length > 0;
  const planned = routedEvents(commit, hasListeners).flatMap((event) => planDeliveries(event, routes, maxDirectListeners));
  const scheduled = scheduledEventsOf(commit, position).map((event) => dispatch.scheduleEvent(event));
  const sends = [...sendsOf(commit), ...callsOf(commit)];
  const areDirect = sends.length <= maxDirectListeners;
  const sent = sends.map((send) => (areDirect ? dispatch.attempt(send, undefined, 0, origin) : dispatch.schedule(send, now, origin)));
  await Promise.all([...scheduled, ...sent, dispatchAll(planned, origin, chains, dispatch, now)]);
}

/** Routes one event that belongs to no commit: a replayed event or a scheduled one that is due. */
export async function routeEvent(event: RoutedEvent, origin: Origin, chains: KeyedChains, parts: RouterParts): Promise<void> {
  const { routes, dispatch, maxDirectListeners, clock } = parts;
  await dispatchAll(planDeliveries(event, routes, maxDirectListeners), origin, chains, dispatch, clock.now());
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

async function dispatchAll(
  planned: readonly PlannedDelivery[],
  origin: Origin,
  chains: KeyedChains,
  dispatch: RouterParts["dispatch"],
  now: number,
): Promise<void> {
  const queued = Map.groupBy(
    planned.filter(({ by }) => by === "queue"),
    ({ delivery }) => chainOf(delivery),
  );
  const others = planned.filter(({ by }) => by !== "queue");
  await Promise.all([
    // In the chain of first attempts as well: the webhook may have become ordered while one is made.
    ...[...queued].map(([chain, ofWebhook]) => {
      const deliveries = ofWebhook.map(({ delivery }) => delivery);
      return chains.append(chain, () => dispatch.enqueue(deliveries, origin));
    }),
    ...others.map(({ delivery, route, by }) => {
      if (by === "message") return dispatch.schedule(delivery, now, origin);
      return chains.append(chainOf(delivery), (waitedMs) => dispatch.attempt(delivery, route, waitedMs, origin));
    }),
  ]);
}

const chainOf = ({ event, listener }: Delivery): string => `${event.source} ${listener}`;

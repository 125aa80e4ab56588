import type { Route } from "../source/deployment.ts";
import { isDerived } from "./committed-event.ts";
import { kindOfId } from "../ids.ts";

/** The parts of an event that determine its listeners. */
export interface EmittedEvent {
  /** `dc_…` or `p_…`. */
  readonly emitter: string;
  /** Owner of the emitter; an `o_…` when it belongs to an organization. */
  readonly owner: string;
  /** "" is the default channel; `$errors` and `$logs` are channels like others. */
  readonly channel: string;
}

/**
 * Whether a source or workflow may listen to itself on a channel. On the default one each event would cause another, and on system channels its
 * errors and log lines would cause more of them. On its own channel its code decides; the hop limit ends a cycle.
 */
export const canHearItself = (channel: string): boolean => channel !== "" && !isDerived(channel);

export function selfSubscriptionMessage(emitter: string, channel: string): string {
  const where = channel === "" ? "on its default channel" : `on ${channel}`;
  return `${emitter} cannot listen to itself ${where}: each event there would make another. Emit under a name of its own, and subscribe to that`;
}

type Address = Pick<Route, "emitter" | "emitterOwner" | "channel" | "owner">;

/**
 * Whether a subscription matches an event (specification, "Subscriptions"). A channel matches exactly.
 *
 * | emitter | matches |
 * |---|---|
 * | an id | that emitter, if its owner is the one in the route: an id alone grants no access |
 * | `dc_*`, `p_*` | all sources, all workflows of the subscription's owner |
 * | an organization | the `$errors` of its workflows |
 * | a user | the `$errors` or the `$logs` of their sources and workflows |
 *
 * An owner's id without a channel means `$errors`.
 */
export function matches(route: Address, event: EmittedEvent): boolean {
  if (isOwner(route.emitter)) return route.emitter === event.owner && channelOfOwner(route) === event.channel && isHeardByOwner(event);
  if (route.channel !== event.channel || ownerHeard(route) !== event.owner) return false;
  return route.emitter === event.emitter || route.emitter === globOf(event.emitter);
}

/** The channels that an owner's id can be subscribed to; empty for other emitters. */
export function channelsOfOwner(emitter: string): readonly string[] {
  switch (kindOfId(emitter)) {
    case "organization":
      return ["$errors"];
    case "user":
      return ["$errors", "$logs"];
    default:
      return [];
  }
}

/** Routes indexed by emitter and channel, so that the cost of an event depends on its listeners, not on all subscriptions. */
export class RouteIndex {
  readonly #keys = new Map<string, string>();
  readonly #routes = new Map<string, Map<string, Route>>();

  get size(): number {
    return this.#keys.size;
  }

  /** Adds the route, in place of an earlier one of the same subscription. */
  set(route: Route): void {
    this.remove(route.subscription);
    const key = keyOfRoute(route);
    const routes = this.#routes.get(key) ?? new Map<string, Route>();
    this.#routes.set(key, routes.set(route.subscription, route));
    this.#keys.set(route.subscription, key);
  }

  /** Unknown subscriptions are ignored, because deletions may arrive twice. */
  remove(subscription: string): void {
    const key = this.#keys.get(subscription);
    if (key === undefined) return;
    this.#keys.delete(subscription);
    const routes = this.#routes.get(key);
    routes?.delete(subscription);
    if (routes?.size === 0) this.#routes.delete(key);
  }

  /** Each matching subscription once. */
  listeners(event: EmittedEvent): readonly Route[] {
    return keysOfEvent(event).flatMap((key) => [...(this.#routes.get(key)?.values() ?? [])]);
  }
}

// Ids have no spaces, so the first spaces are separators, and the channel may contain anything.
function keyOfRoute(route: Route): string {
  if (isOwner(route.emitter)) return `${route.emitter} ${channelOfOwner(route)}`;
  return `${route.emitter} ${ownerHeard(route)} ${route.channel}`;
}

function keysOfEvent(event: EmittedEvent): readonly string[] {
  const keys = [`${event.emitter} ${event.owner} ${event.channel}`];
  const glob = globOf(event.emitter);
  if (glob !== undefined) keys.push(`${glob} ${event.owner} ${event.channel}`);
  if (isHeardByOwner(event)) keys.push(`${event.owner} ${event.channel}`);
  return keys;
}

/** The emitter of a route; for an organization's workflows, the organization. */
function ownerHeard({ owner, emitterOwner = owner }: Address): string {
  return emitterOwner;
}

function globOf(emitter: string): "dc_*" | "p_*" | undefined {
  const kind = kindOfId(emitter);
  if (kind === "source") return "dc_*";
  return kind === "workflow" ? "p_*" : undefined;
}

const isOwner = (emitter: string): boolean => channelsOfOwner(emitter).length > 0;

const channelOfOwner = ({ channel }: Address): string => (channel === "" ? "$errors" : channel);

/** Whether subscriptions to the owner's id receive the event. */
function isHeardByOwner({ emitter, owner, channel }: EmittedEvent): boolean {
  if (!channelsOfOwner(owner).includes(channel)) return false;
  return kindOfId(owner) === "user" || kindOfId(emitter) === "workflow";
}

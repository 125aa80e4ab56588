import type { Route } from "./deployment.ts";
import { kindOfId } from "./ids.ts";

/** What of an event decides who hears it. */
export interface EmittedEvent {
  /** `dc_…` or `p_…`. */
  readonly emitter: string;
  /** Owner of the emitter; an `o_…` when it belongs to an organization. */
  readonly owner: string;
  /** "" is the default channel; `$errors` and `$logs` are channels like others. */
  readonly channel: string;
}

type Address = Pick<Route, "emitter" | "emitterOwner" | "channel" | "owner">;

/**
 * Whether a subscription hears an event (specification, "Subscriptions"). A channel matches exactly. An emitter id matches itself
 * as long as it belongs to whom it belonged to when the subscription was judged: an id alone opens nothing. `dc_*` and `p_*` match all sources and workflows of the subscription's owner; an organization's id stands for the `$errors` of
 * all its workflows, whether the subscription names that channel or none.
 */
export function matches(route: Address, event: EmittedEvent): boolean {
  if (kindOfId(route.emitter) === "organization") return hearsOrganization(route) && isWorkflowErrorOf(route.emitter, event);
  if (route.channel !== event.channel || ownerHeard(route) !== event.owner) return false;
  return route.emitter === event.emitter || route.emitter === globOf(event.emitter);
}

/** Routes by what they listen to, so that an event costs as much as it has listeners, whatever the number of subscriptions. */
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

  /** An unknown subscription is no error: deletions may arrive twice. */
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

// Ids hold no space, so the first spaces separate and the channel may hold anything.
function keyOfRoute(route: Route): string {
  if (kindOfId(route.emitter) === "organization") return `${route.emitter} ${hearsOrganization(route) ? "$errors" : ""}`;
  return `${route.emitter} ${ownerHeard(route)} ${route.channel}`;
}

function keysOfEvent(event: EmittedEvent): readonly string[] {
  const keys = [`${event.emitter} ${event.owner} ${event.channel}`];
  const glob = globOf(event.emitter);
  if (glob !== undefined) keys.push(`${glob} ${event.owner} ${event.channel}`);
  if (isWorkflowErrorOf(event.owner, event)) keys.push(`${event.owner} $errors`);
  return keys;
}

/** Whose events a route hears; of an organization's workflows it is the organization. */
function ownerHeard({ owner, emitterOwner = owner }: Address): string {
  return emitterOwner;
}

function globOf(emitter: string): "dc_*" | "p_*" | undefined {
  const kind = kindOfId(emitter);
  if (kind === "source") return "dc_*";
  return kind === "workflow" ? "p_*" : undefined;
}

function hearsOrganization(route: Address): boolean {
  return route.channel === "" || route.channel === "$errors";
}

function isWorkflowErrorOf(organization: string, event: EmittedEvent): boolean {
  return event.channel === "$errors" && kindOfId(event.emitter) === "workflow" && event.owner === organization;
}

import { canHearItself, RouteIndex } from "../../domain/event/subscription-match.ts";
import { isRoutedInOrder, type CommitPosition, type Route, type RouteListener } from "../../domain/source/deployment.ts";
import type { RoutedEvent } from "./delivery.ts";

export type Webhook = Extract<RouteListener, { kind: "webhook" }>;

/** A route to a workflow that is deployed and active: its events become invocations. */
interface ActiveWorkflowRoute extends Pick<Route, "owner"> {
  readonly listener: Extract<RouteListener, { kind: "workflow" }> & { readonly pool: string };
}

/** The current routes of subscriptions, found by event or id, and the webhooks and workflows, found by id. These have entries of their own. */
export class Routes {
  readonly #index = new RouteIndex();
  readonly #byId = new Map<string, Route>();
  /** Subscriptions of webhooks that are routed in order. */
  readonly #inOrder = new Set<string>();
  /** Subscriptions that lead to an active workflow, by workflow. */
  readonly #active = new Map<string, Map<string, ActiveWorkflowRoute>>();

  set(subscription: string, route: Route | undefined): void {
    this.#setActive(subscription, route);
    if (route === undefined) {
      this.#index.remove(subscription);
      this.#byId.delete(subscription);
      this.#inOrder.delete(subscription);
      return;
    }
    const isOwnEntry = route.emitter === route.listener.id;
    if (isRoutedInOrder(route) && !isOwnEntry) this.#inOrder.add(subscription);
    else this.#inOrder.delete(subscription);
    if (!isOwnEntry || listensToItself(route)) this.#index.set(route);
    this.#byId.set(subscription, route);
  }

  find(subscription: string): Route | undefined {
    return this.#byId.get(subscription);
  }

  /** A webhook from its own entry; undefined if it was deleted. Nothing may be posted to a webhook without keys. */
  webhook(id: string): Webhook | undefined {
    const listener = this.#byId.get(id)?.listener;
    return listener?.kind === "webhook" && listener.id === id ? listener : undefined;
  }

  /** A workflow from its own entry; undefined if it was deleted, or never deployed. */
  workflow(id: string): Extract<RouteListener, { kind: "workflow" }> | undefined {
    const listener = this.#byId.get(id)?.listener;
    return listener?.kind === "workflow" && listener.id === id ? listener : undefined;
  }

  /** A route to the workflow; undefined while it is not active, or has neither an entry of its own nor a subscription. */
  activeWorkflow(id: string): ActiveWorkflowRoute | undefined {
    return this.#active.get(id)?.values().next().value;
  }

  #setActive(subscription: string, route: Route | undefined): void {
    const before = this.#byId.get(subscription)?.listener.id;
    const routes = before === undefined ? undefined : this.#active.get(before);
    if (before !== undefined && routes?.delete(subscription) === true && routes.size === 0) this.#active.delete(before);
    if (route === undefined || !isActiveWorkflow(route)) return;
    const ofWorkflow = this.#active.get(route.listener.id) ?? new Map<string, ActiveWorkflowRoute>();
    this.#active.set(route.listener.id, ofWorkflow.set(subscription, route));
  }

  /** Whether any subscription is routed in order. */
  get hasOrdered(): boolean {
    return this.#inOrder.size > 0;
  }

  /** Whether the webhook is, or ever was, ordered. */
  wasOrdered(webhook: string): boolean {
    const own = this.#byId.get(webhook);
    return own !== undefined && isRoutedInOrder(own);
  }

  isRoutedInOrder(subscription: string): boolean {
    return this.#inOrder.has(subscription);
  }

  /**
   * The routes for the events of a commit: without subscriptions that are newer than the commit, and only those that are routed in
   * order, or only the others. A replica that learns of `orderedSince` too late routes an event twice rather than not at all.
   */
  at(position: CommitPosition, by: "direct" | "ordered"): Pick<Routes, "listeners"> {
    const isRoutedHere = (route: Route): boolean => isOrderedAt(route, position) === (by === "ordered");
    return { listeners: (event) => this.listeners(event).filter((route) => !isUpTo(position, route.after) && isRoutedHere(route)) };
  }

  /** A source or workflow that listens to all of its owner does not receive its own events: each would cause another. */
  listeners(event: Pick<RoutedEvent, "source" | "owner" | "channel">): readonly Route[] {
    const listeners = this.#index.listeners({ emitter: event.source, owner: event.owner, channel: event.channel });
    return listeners.filter((route) => route.listener.id !== event.source || listensToItself(route));
  }
}

const isActiveWorkflow = (route: Route): route is Route & ActiveWorkflowRoute =>
  route.listener.kind === "workflow" && route.listener.pool !== undefined;

/**
 * Whether a subscription names one source or workflow as emitter and as listener. The own entry of a webhook or workflow looks alike, and routes no
 * events.
 */
const listensToItself = ({ emitter, listener, channel }: Route): boolean =>
  listener.kind !== "webhook" && emitter === listener.id && canHearItself(channel);

const isOrderedAt = (route: Route, position: CommitPosition): boolean => isRoutedInOrder(route) && !isUpTo(position, route.orderedSince);

function isUpTo({ stream, seq }: CommitPosition, last: CommitPosition | undefined): boolean {
  return last?.stream === stream && seq <= last.seq;
}
